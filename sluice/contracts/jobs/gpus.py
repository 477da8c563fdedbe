"""GPUs: as nodes offer them, and what a job needs of them."""

from functools import cache
from typing import Annotated

from pydantic import Field, StringConstraints

from sluice.contracts.common.base import Contract
from sluice.contracts.common.bounds import NewWord
from sluice.contracts.common.wording import StringRule

#: Numbers with dots between them, such as 12.4 (CUDA) or 8.6 (compute capability).
Version = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9]{1,6}(\.[0-9]{1,6}){0,3}$"),
    StringRule(
        "a version",
        first="[0-9]",
        other="[0-9.]",
        max_length=27,
        rule="is one to four numbers with dots between them, such as 12.4",
    ),
]

#: The most GPUs of a job. No node has more.
MAX_GPUS_PER_JOB = 64
#: The smallest part of a GPU that a job can request.
MIN_SHARE = 0.01


@cache
def version_key(version: str) -> tuple[int, ...]:
    """Return a key that orders versions: 12.10 comes after 12.9, and 12 equals 12.0."""
    parts = [int(part) for part in version.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


class Gpu(Contract):
    """A GPU of a node. Each instance of a divided GPU (MIG) is a GPU.

    An empty value or 0 means that the value is not known.

    Attributes:
        uuid: The identifier that the driver gives.
        name: The name of the model.
        memory: MiB.
        capability: The compute capability of the hardware.
        driver: The version of the node's driver.
        cuda: The newest CUDA version that the driver supports.
    """

    uuid: NewWord
    name: NewWord = ""
    memory: Annotated[int, Field(ge=0)] = 0
    capability: Version | None = None
    driver: NewWord = ""
    cuda: Version | None = None


class FreeGpu(Contract):
    """The free part of a GPU.

    Attributes:
        share: The free share of its time.
        memory: Free memory in MiB.
    """

    uuid: NewWord
    share: Annotated[float, Field(ge=0, le=1)]
    memory: Annotated[int, Field(ge=0)]


class GpuAmount(Contract):
    """The part of each GPU that a job gets.

    Attributes:
        share: The share of its time. Other jobs may get the rest of a share below 1.
        memory: MiB. 0 stands for the same share of the GPU's memory.
    """

    share: Annotated[float, Field(ge=MIN_SHARE, le=1, strict=False)] = 1.0
    memory: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0


class GpuNeeds(GpuAmount):
    """The GPUs that a job needs.

    Source: ``CUDARequirement`` of cwltool's extensions to CWL.

    Attributes:
        least: The minimum number of GPUs.
        most: The maximum number of GPUs.
        capability: The minimum compute capability.
        capabilities: The accepted compute capabilities. Empty means that all are accepted.
        cuda: The minimum CUDA version.
    """

    least: Annotated[int, Field(ge=1, le=MAX_GPUS_PER_JOB)] = 1
    most: Annotated[int, Field(ge=1, le=MAX_GPUS_PER_JOB)] = 1
    capability: Version | None = None
    capabilities: list[Version] = Field(default_factory=list)
    cuda: Version | None = None

    def with_memory(self, memory: int | None) -> "GpuNeeds":
        """Return the same needs with ``memory`` MiB of each GPU; None changes nothing."""
        return self if memory is None else self.model_copy(update={"memory": memory})
