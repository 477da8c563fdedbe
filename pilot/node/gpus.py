"""GPUs of this node, as NVIDIA's management library (NVML) reports them."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pynvml
import structlog

from sluice.contracts.jobs.gpus import Gpu

log = structlog.get_logger(__name__)

_MIB = 1 << 20
#: Variable by which batch systems name the devices of a job.
_VISIBLE = "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True, slots=True)
class NodeGpu:
    """A GPU of this node.

    Attributes:
        path: The path of its device file.
    """

    gpu: Gpu
    path: str


def find_gpus(
    environment: Mapping[str, str] = os.environ, nvml: ModuleType | Any = pynvml
) -> list[NodeGpu]:
    """Return the GPUs that this process may use.

    The list is empty without a driver. A divided GPU (MIG) is replaced by its instances.
    """
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return []
    try:
        devices = list(_list_devices(nvml))
    except nvml.NVMLError as error:
        log.warning("gpus.unknown", reason=f"the NVIDIA driver cannot list its GPUs: {error}")
        return []
    finally:
        nvml.nvmlShutdown()
    allowed = environment.get(_VISIBLE)
    if allowed is None:
        return [gpu for _, gpu in devices]
    names = [name.strip() for name in allowed.split(",")]
    return [gpu for number, gpu in devices if any(_is_named(name, number, gpu) for name in names)]


def _is_named(name: str, number: int, gpu: NodeGpu) -> bool:
    """Return whether ``name`` is the number or the start of the uuid of a GPU, as in CUDA."""
    return name == str(number) or (name[:4] in {"GPU-", "MIG-"} and gpu.gpu.uuid.startswith(name))


def _list_devices(nvml: Any) -> Iterator[tuple[int, NodeGpu]]:
    """Yield each GPU with the number of its device.

    Raises:
        NVMLError: The driver could not be queried.
    """
    driver = _decode(nvml.nvmlSystemGetDriverVersion())
    cuda = nvml.nvmlSystemGetCudaDriverVersion_v2()
    for number in range(nvml.nvmlDeviceGetCount()):
        try:
            device = nvml.nvmlDeviceGetHandleByIndex(number)
            capability = ".".join(map(str, nvml.nvmlDeviceGetCudaComputeCapability(device)))
            path = f"/dev/nvidia{nvml.nvmlDeviceGetMinorNumber(device)}"
            for handle in _list_instances(nvml, device):
                gpu = Gpu(
                    uuid=_decode(nvml.nvmlDeviceGetUUID(handle)),
                    name=_decode(nvml.nvmlDeviceGetName(handle)),
                    memory=nvml.nvmlDeviceGetMemoryInfo(handle).total // _MIB,
                    capability=capability,
                    driver=driver,
                    cuda=f"{cuda // 1000}.{cuda % 1000 // 10}",
                )
                yield number, NodeGpu(gpu, path)
        except nvml.NVMLError as error:  # The other devices may work.
            log.warning(
                "gpu.broken", number=number, reason=f"its driver does not describe it: {error}"
            )


def _list_instances(nvml: Any, device: Any) -> list[Any]:
    """Return the MIG instances of a device, or the device itself if it is not divided.

    Raises:
        NVMLError: The device could not be queried.
    """
    try:
        divided = nvml.nvmlDeviceGetMigMode(device)[0] == nvml.NVML_DEVICE_MIG_ENABLE
    except nvml.NVMLError_NotSupported:
        return [device]
    if not divided:
        return [device]
    instances = []
    for number in range(nvml.nvmlDeviceGetMaxMigDeviceCount(device)):
        try:
            instances.append(nvml.nvmlDeviceGetMigDeviceHandleByIndex(device, number))
        except nvml.NVMLError_NotFound:
            continue
    return instances


def _decode(value: str | bytes) -> str:
    """Return a string that NVML gives as str or bytes, depending on its version."""
    return value.decode() if isinstance(value, bytes) else value
