"""A fake of NVIDIA's management library (NVML) as its Python package offers it, for nodes with GPUs
that this machine lacks. ``test_gpus.py`` compares it with the real library where there is a GPU."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace


class NVMLError(Exception):
    """The base class of the errors of the package."""


class NotSupportedError(NVMLError):
    """The device does not support MIG."""


class NotFoundError(NVMLError):
    """There is no instance with this number."""


@dataclass
class Device:
    """A GPU or a MIG instance. ``memory`` is in MiB. ``instances`` maps numbers to MIG instances;
    None means that the device is not divided. A ``broken`` device does not answer."""

    uuid: str
    name: str = "NVIDIA A2"
    memory: int = 15_356
    capability: tuple[int, int] = (8, 6)
    minor: int = 0
    instances: "dict[int, Device] | None" = None
    can_be_divided: bool = False
    broken: bool = False


@dataclass
class Nvml:
    """The top level of the package. ``driver`` is empty where there is no driver."""

    devices: Sequence[Device] = ()
    driver: str = "550.54.15"
    cuda: int = 12_040
    open: int = 0
    NVML_DEVICE_MIG_ENABLE: int = 1
    NVMLError: type[Exception] = field(default=NVMLError)
    NVMLError_NotSupported: type[Exception] = field(default=NotSupportedError)
    NVMLError_NotFound: type[Exception] = field(default=NotFoundError)

    def nvmlInit(self) -> None:
        if not self.driver:
            raise NVMLError("Driver Not Loaded")
        self.open += 1

    def nvmlShutdown(self) -> None:
        self.open -= 1

    def nvmlSystemGetDriverVersion(self) -> str:
        return self.driver

    def nvmlSystemGetCudaDriverVersion_v2(self) -> int:
        return self.cuda

    def nvmlDeviceGetCount(self) -> int:
        return len(self.devices)

    def nvmlDeviceGetHandleByIndex(self, number: int) -> Device:
        if self.devices[number].broken:
            raise NVMLError("GPU is lost")
        return self.devices[number]

    def nvmlDeviceGetCudaComputeCapability(self, device: Device) -> tuple[int, int]:
        return device.capability

    def nvmlDeviceGetMinorNumber(self, device: Device) -> int:
        return device.minor

    def nvmlDeviceGetMigMode(self, device: Device) -> list[int]:
        if device.instances is None and not device.can_be_divided:
            raise NotSupportedError("Not Supported")
        return [int(device.instances is not None)] * 2

    def nvmlDeviceGetMaxMigDeviceCount(self, device: Device) -> int:
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, device: Device, number: int) -> Device:
        if number not in (device.instances or {}):
            raise NotFoundError("Not Found")
        return (device.instances or {})[number]

    def nvmlDeviceGetUUID(self, device: Device) -> str:
        return device.uuid

    def nvmlDeviceGetName(self, device: Device) -> str:
        return device.name

    def nvmlDeviceGetMemoryInfo(self, device: Device) -> SimpleNamespace:
        return SimpleNamespace(total=device.memory << 20)
