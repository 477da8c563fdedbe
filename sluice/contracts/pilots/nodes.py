"""Compute nodes: their names, resources and isolation."""

from collections import Counter
from typing import Annotated

from pydantic import Field, StringConstraints

from sluice.contracts.common.base import (
    Contract,
)
from sluice.contracts.common.bounds import MAX_WORD
from sluice.contracts.common.states import (
    ContainerEngine,
    SandboxKind,
)
from sluice.contracts.common.wording import StringRule
from sluice.contracts.jobs.gpus import Gpu
from sluice.contracts.jobs.resources import (
    Labels,
    NamedAmounts,
)
from sluice.contracts.pilots.node_parts import PartName, part_in_words


class NodeResources(Contract):
    """The resources of a node.

    Attributes:
        ram: Memory in MiB.
        disk: Disk space in MiB.
        gpus: The names of the GPUs.
        devices: The details of the GPUs.
        named: Resources that the node's operator has declared.
        labels: Labels that the node's operator has declared.
        part: The part of the node that the pilot has, such as ``1/2``, if other pilots share the
            node.
    """

    cores: Annotated[float, Field(gt=0)]
    ram: int
    disk: int
    gpus: list[str] = Field(default_factory=list)
    devices: list[Gpu] = Field(default_factory=list)
    named: NamedAmounts = Field(default_factory=dict)
    labels: Labels = Field(default_factory=dict)
    part: PartName | None = None

    @property
    def known_gpus(self) -> list[Gpu]:
        """Return the GPUs; those without details by number and name."""
        return self.devices or [
            Gpu(uuid=str(number), name=name) for number, name in enumerate(self.gpus)
        ]

    @property
    def part_in_words(self) -> str:
        """Return the part, such as ``part 1 of 2 of its node``; empty for a whole node."""
        return part_in_words(self.part) if self.part else ""

    @property
    def gpus_in_words(self) -> str:
        """Return the GPUs, such as ``2 × NVIDIA A2``; empty if there are none."""
        return ", ".join(f"{number} × {name}" for name, number in Counter(self.gpus).items())


class WithIsolation(Contract):
    """The isolation that a node has for jobs.

    Attributes:
        engines: Container engines that work on the node. The first one is used.
    """

    engines: list[ContainerEngine] = Field(default_factory=list)
    sandbox: SandboxKind = SandboxKind.NONE


#: The name of a node. The WMS adds the site of a pilot behind a blank.
HostName = Annotated[
    str,
    StringConstraints(pattern=r"^\S+$", max_length=MAX_WORD),
    StringRule(
        "the name of a node",
        first=r"\S",
        other=r"\S",
        max_length=MAX_WORD,
        rule=f"has no blanks, and at most {MAX_WORD} characters",
    ),
]
