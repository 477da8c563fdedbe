"""GPUs of the node that a program can use."""

import os
from collections.abc import Sequence

#: CUDA's variable. Engines that share the node's devices with containers expect a prefix.
_CUDA = "CUDA_VISIBLE_DEVICES"
GPU_VARIABLES = (_CUDA, f"APPTAINERENV_{_CUDA}", f"SINGULARITYENV_{_CUDA}")


def gpu_environment(gpus: Sequence[str]) -> dict[str, str]:
    """Return environment variables that make these GPUs visible.

    ``gpus`` are uuids. If there are none, the program finds no GPU.
    """
    return dict.fromkeys(GPU_VARIABLES, ",".join(gpus))


def count_gpus() -> int:
    """Return the number of GPUs that this process may use."""
    return len([uuid for uuid in os.environ.get(_CUDA, "").split(",") if uuid])
