"""Which of a node's GPUs a program finds."""

import os
from collections.abc import Sequence

#: CUDA's; engines that give containers the node's devices as they are take it with their prefix.
_CUDA = "CUDA_VISIBLE_DEVICES"
VISIBLE = (_CUDA, f"APPTAINERENV_{_CUDA}", f"SINGULARITYENV_{_CUDA}")


def visible(gpus: Sequence[str]) -> dict[str, str]:
    """Variables of its environment. ``gpus``: by uuid; without any, it finds none."""
    return dict.fromkeys(VISIBLE, ",".join(gpus))


def number_of_gpus() -> int:
    """That this process was given so."""
    return len([uuid for uuid in os.environ.get(_CUDA, "").split(",") if uuid])
