"""Named resources and labels of nodes.

The operator of a pilot states them, because the pilot cannot measure them.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from sluice.contracts.common.base import Contract
from sluice.contracts.common.bounds import MAX_GPUS, NewWord
from sluice.contracts.common.numbers import in_full
from sluice.contracts.common.wording import name_rule
from sluice.contracts.jobs.gpus import FreeGpu

#: Limits of one node and of one job.
MAX_NAMED, MAX_LABELS = 64, 64
#: The smallest and the largest amount of a named resource.
MIN_AMOUNT, MAX_AMOUNT = 0.001, 1_000_000_000

ResourceName = Annotated[
    str,
    name_rule("a resource's or label's name", first="A-Za-z", other="A-Za-z0-9_.-", max_length=63),
]
Amount = Annotated[float, Field(ge=MIN_AMOUNT, le=MAX_AMOUNT)]

#: Amounts by name of the resource.
NamedAmounts = Annotated[dict[ResourceName, Amount], Field(max_length=MAX_NAMED)]
#: Amounts that are free.
NamedRest = Annotated[
    dict[ResourceName, Annotated[float, Field(ge=0)]],
    Field(max_length=MAX_NAMED),
]
#: Amounts that an attempt has spent.
SpentAmounts = Annotated[
    dict[ResourceName, Annotated[float, Field(ge=0, le=MAX_AMOUNT, allow_inf_nan=False)]],
    Field(max_length=MAX_NAMED),
]
#: The labels of a node, with one value each.
Labels = Annotated[dict[ResourceName, NewWord], Field(max_length=MAX_LABELS)]
#: The labels that a node must have, each with one of the values.
RequestedLabels = Annotated[
    dict[ResourceName, Annotated[list[NewWord], Field(min_length=1, max_length=MAX_LABELS)]],
    Field(max_length=MAX_LABELS),
]


class Amounts(Contract):
    """Free resources of a node.

    Attributes:
        cores: CPU cores.
        ram: Memory in MiB.
        disk: Disk space in MiB. None means that it is not known.
        named: Amounts of named resources.
        gpus: The GPUs, with what is free on each.
    """

    cores: Annotated[float, Field(ge=0)]
    ram: Annotated[int, Field(ge=0)]
    disk: Annotated[int | None, Field(ge=0)] = None
    named: NamedRest = Field(default_factory=dict)
    gpus: Annotated[list[FreeGpu], Field(max_length=MAX_GPUS)] = Field(default_factory=list)


class AllocatedAmounts(Contract):
    """Resources of a node that running jobs have.

    Attributes:
        cores: CPU cores.
        ram: Memory in MiB.
        disk: Disk space in MiB.
        gpus: The sum of the parts of GPUs.
        named: Amounts of named resources.
    """

    cores: float = 0.0
    ram: float = 0
    disk: float = 0
    gpus: float = 0
    named: NamedRest = Field(default_factory=dict)


def describe_allocation(
    allocated_amounts: AllocatedAmounts, offered_amounts: AllocatedAmounts, between: str
) -> dict[str, str]:
    """Return texts such as ``2 of 8`` by resource.

    Args:
        allocated_amounts: What the jobs have. Disk space is left out if they have none.
        offered_amounts: What the node has.
        between: The text between the two numbers.
    """
    amounts: dict[str, tuple[float, float]] = {
        "cores": (allocated_amounts.cores, offered_amounts.cores),
        "memory": (allocated_amounts.ram, offered_amounts.ram),
    }
    if allocated_amounts.disk:
        amounts["disk"] = (allocated_amounts.disk, offered_amounts.disk)
    if offered_amounts.gpus:
        amounts["GPUs"] = (allocated_amounts.gpus, offered_amounts.gpus)
    for name, amount in offered_amounts.named.items():
        amounts[name] = (allocated_amounts.named.get(name, 0), amount)
    return {
        name: f"{in_full(round(used, 3))}{between}{in_full(limit)}"
        for name, (used, limit) in amounts.items()
    }


def named_in_words(amounts: Mapping[str, float]) -> str:
    """Return named resources as text, as in ``4 licence, 0.5 scanner``."""
    return ", ".join(f"{amount:g} {name}" for name, amount in sorted(amounts.items()))


def labels_in_words(labels: Mapping[str, str]) -> str:
    """Return labels as text, as in ``site=prague``."""
    return ", ".join(f"{name}={value}" for name, value in sorted(labels.items()))
