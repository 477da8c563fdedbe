"""What this node has: cores, memory, disk, GPUs."""

import importlib
import os
import shutil
from pathlib import Path
from typing import Any

import psutil

from sluice.contracts.pilots import NodeResources

_MIB = 1 << 20


def detect(work_dir: Path) -> NodeResources:
    """Cores this process may use, memory of the machine, disk free where jobs work, names of GPUs."""
    return NodeResources(
        cores=len(os.sched_getaffinity(0)),
        ram=psutil.virtual_memory().total // _MIB,
        disk=shutil.disk_usage(work_dir).free // _MIB,
        gpus=_gpus(),
    )


def _gpus() -> list[str]:
    """Names of NVIDIA GPUs; none where the library (nvidia-ml-py) or the driver is missing."""
    try:
        nvml: Any = importlib.import_module("pynvml")
    except ImportError:
        return []
    try:
        nvml.nvmlInit()
        names = [nvml.nvmlDeviceGetName(nvml.nvmlDeviceGetHandleByIndex(number)) for number in range(nvml.nvmlDeviceGetCount())]
        nvml.nvmlShutdown()
    except nvml.NVMLError:
        return []
    return [name.decode() if isinstance(name, bytes) else name for name in names]
