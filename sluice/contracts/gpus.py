"""GPUs: as nodes offer them, and what a job needs of them."""

import operator
from functools import cache
from typing import Annotated

from pydantic import Field, StringConstraints

from sluice.contracts.base import Contract, absent
from sluice.contracts.bounds import NewWord
from sluice.contracts.wording import StringRule

#: Numbers with dots between them, such as 12.4 (CUDA) or 8.6 (compute capability).
Version = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9]{1,6}(\.[0-9]{1,6}){0,3}$"),
    StringRule(
        "a version",
        first="[0-9]",
        other="[0-9.]",
        most=27,
        rule="is one to four numbers with dots between them, such as 12.4",
    ),
]

#: No node has more.
MOST_GPUS_OF_A_JOB = 64
#: The smallest part of a GPU that a job can ask for.
LEAST_SHARE = 0.01


@cache
def version_key(version: str) -> tuple[int, ...]:
    """For comparing: 12.10 comes after 12.9, and 12 is 12.0."""
    parts = [int(part) for part in version.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


class Gpu(Contract):
    """A device of a node; an instance of one that is divided (MIG) is a device itself. ``memory``:
    MiB. ``capability``: of its hardware (compute capability). ``driver``: the version of the node's
    driver; ``cuda``: the newest CUDA that this runs. What is empty or 0 is not known."""

    uuid: NewWord
    name: NewWord = ""
    memory: Annotated[int, Field(ge=0)] = 0
    capability: Version | None = None
    driver: NewWord = ""
    cuda: Version | None = None


class FreeGpu(Contract):
    """What is left of a device: ``share`` of its time, ``memory`` in MiB."""

    uuid: NewWord
    share: Annotated[float, Field(ge=0, le=1)]
    memory: Annotated[int, Field(ge=0)]


class GpuAmount(Contract):
    """Of each device that a job gets: ``share`` (below 1: others have the rest) and ``memory`` in
    MiB (0: that share of what it has)."""

    share: Annotated[float, Field(ge=LEAST_SHARE, le=1, strict=False)] = 1.0
    memory: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0


class GpuNeeds(GpuAmount):
    """Of one job: ``least`` to ``most`` devices. ``capability``: at the least; ``capabilities``:
    one of these, if there are any; ``cuda``: at the least.

    Source: ``CUDARequirement`` of cwltool's extensions to CWL."""

    least: Annotated[int, Field(ge=1, le=MOST_GPUS_OF_A_JOB)] = 1
    most: Annotated[int, Field(ge=1, le=MOST_GPUS_OF_A_JOB)] = 1
    capability: Annotated[Version | None, Field(exclude_if=absent)] = None
    capabilities: Annotated[list[Version], Field(exclude_if=operator.not_)] = Field(
        default_factory=list
    )
    cuda: Annotated[Version | None, Field(exclude_if=absent)] = None

    def with_memory(self, memory: int | None) -> "GpuNeeds":
        """The same, with so much of each device; None: as it is."""
        return self if memory is None else self.model_copy(update={"memory": memory})
