"""GPUs of this node, as NVIDIA's management library (NVML) tells of them."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pynvml
import structlog

from sluice.contracts.gpus import Gpu

log = structlog.get_logger(__name__)

_MIB = 1 << 20
#: By which batch systems say which of a node's devices are a job's.
_VISIBLE = "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True, slots=True)
class NodeGpu:
    """``path``: of its device file."""

    gpu: Gpu
    path: str


def find_gpus(
    environment: Mapping[str, str] = os.environ, nvml: ModuleType | Any = pynvml
) -> list[NodeGpu]:
    """Those that this process may use; none where there is no driver. Of one that is divided (MIG),
    its instances."""
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return []
    try:
        found = list(_devices(nvml))
    except nvml.NVMLError as error:
        log.warning("gpus.unknown", reason=str(error))
        return []
    finally:
        nvml.nvmlShutdown()
    allowed = environment.get(_VISIBLE)
    if allowed is None:
        return [gpu for _, gpu in found]
    names = [name.strip() for name in allowed.split(",")]
    return [gpu for number, gpu in found if any(_is_named(name, number, gpu) for name in names)]


def _is_named(name: str, number: int, gpu: NodeGpu) -> bool:
    """As CUDA has it: a number, or the beginning of a uuid."""
    return name == str(number) or (name[:4] in {"GPU-", "MIG-"} and gpu.gpu.uuid.startswith(name))


def _devices(nvml: Any) -> Iterator[tuple[int, NodeGpu]]:
    """Each with the number of the device that it is, or a part of. Raises ``NVMLError``."""
    driver = _text(nvml.nvmlSystemGetDriverVersion())
    cuda = nvml.nvmlSystemGetCudaDriverVersion_v2()
    for number in range(nvml.nvmlDeviceGetCount()):
        try:
            device = nvml.nvmlDeviceGetHandleByIndex(number)
            capability = ".".join(map(str, nvml.nvmlDeviceGetCudaComputeCapability(device)))
            path = f"/dev/nvidia{nvml.nvmlDeviceGetMinorNumber(device)}"
            for handle in _instances(nvml, device):
                gpu = Gpu(
                    uuid=_text(nvml.nvmlDeviceGetUUID(handle)),
                    name=_text(nvml.nvmlDeviceGetName(handle)),
                    memory=nvml.nvmlDeviceGetMemoryInfo(handle).total // _MIB,
                    capability=capability,
                    driver=driver,
                    cuda=f"{cuda // 1000}.{cuda % 1000 // 10}",
                )
                yield number, NodeGpu(gpu, path)
        except nvml.NVMLError as error:  # the others may work
            log.warning("gpu.broken", number=number, reason=str(error))


def _instances(nvml: Any, device: Any) -> list[Any]:
    """The device itself where it is not divided. Raises ``NVMLError``."""
    try:
        divided = nvml.nvmlDeviceGetMigMode(device)[0] == nvml.NVML_DEVICE_MIG_ENABLE
    except nvml.NVMLError_NotSupported:
        return [device]
    if not divided:
        return [device]
    found = []
    for number in range(nvml.nvmlDeviceGetMaxMigDeviceCount(device)):
        try:
            found.append(nvml.nvmlDeviceGetMigDeviceHandleByIndex(device, number))
        except nvml.NVMLError_NotFound:
            continue
    return found


def _text(value: str | bytes) -> str:
    """Which of the two depends on the version of the library."""
    return value.decode() if isinstance(value, bytes) else value
