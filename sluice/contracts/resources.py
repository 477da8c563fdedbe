"""What a pilot's operator says that its node has, beside what can be measured: named resources, of
which there is so much, and labels."""

import operator
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

from sluice.contracts.base import Contract, absent
from sluice.contracts.bounds import MOST_GPUS, NewWord
from sluice.contracts.gpus import FreeGpu
from sluice.contracts.numbers import in_full
from sluice.contracts.wording import StringRule

#: Of one node, or of one job.
MOST_NAMED, MOST_LABELS = 64, 64
#: The smallest part of a named resource that there is, and the most of one.
LEAST_AMOUNT, MOST_AMOUNT = 0.001, 1_000_000_000

ResourceName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,62}$"),
    StringRule(
        "a resource's or label's name",
        first="[A-Za-z]",
        other="[A-Za-z0-9_.-]",
        most=63,
        rule=(
            "has letters (A to Z, a to z), digits and _.- only, at most 63, and begins with a"
            " letter"
        ),
    ),
]
Amount = Annotated[float, Field(ge=LEAST_AMOUNT, le=MOST_AMOUNT)]

#: Amounts by the name of the resource; left out where there are none, as the release before knows
#: none.
NamedAmounts = Annotated[
    dict[ResourceName, Amount], Field(max_length=MOST_NAMED, exclude_if=operator.not_)
]
#: What is left of them.
NamedRest = Annotated[
    dict[ResourceName, Annotated[float, Field(ge=0)]],
    Field(max_length=MOST_NAMED, exclude_if=operator.not_),
]
#: What an attempt has spent of them.
SpentAmounts = Annotated[
    dict[ResourceName, Annotated[float, Field(ge=0, le=MOST_AMOUNT, allow_inf_nan=False)]],
    Field(max_length=MOST_NAMED, exclude_if=operator.not_),
]
#: Of a node: one value each.
Labels = Annotated[
    dict[ResourceName, NewWord], Field(max_length=MOST_LABELS, exclude_if=operator.not_)
]
#: That a node has to have: of each, one of the values.
WantedLabels = Annotated[
    dict[ResourceName, Annotated[list[NewWord], Field(min_length=1, max_length=MOST_LABELS)]],
    Field(max_length=MOST_LABELS, exclude_if=operator.not_),
]


class Amounts(Contract):
    """Of a node's resources; ``ram``, ``disk`` in MiB. ``disk`` None: nobody has looked."""

    cores: Annotated[float, Field(ge=0)]
    ram: Annotated[int, Field(ge=0)]
    disk: Annotated[int | None, Field(ge=0, exclude_if=absent)] = None
    named: NamedRest = Field(default_factory=dict)
    gpus: Annotated[list[FreeGpu], Field(max_length=MOST_GPUS)] = Field(default_factory=list)


class AllocatedAmounts(Contract):
    """Of a node, by the jobs that run there. ``ram``, ``disk`` in MiB; ``gpus``: parts of them, in
    all."""

    cores: float = 0.0
    ram: float = 0
    disk: float = 0
    gpus: float = 0
    named: NamedRest = Field(default_factory=dict)


def taken_in_words(
    taken: AllocatedAmounts, offered: AllocatedAmounts, between: str
) -> dict[str, str]:
    """``2 of 8``, by what it is; disk where some is taken."""
    amounts: dict[str, tuple[float, float]] = {
        "cores": (taken.cores, offered.cores),
        "memory": (taken.ram, offered.ram),
    }
    if taken.disk:
        amounts["disk"] = (taken.disk, offered.disk)
    if offered.gpus:
        amounts["GPUs"] = (taken.gpus, offered.gpus)
    for name, amount in offered.named.items():
        amounts[name] = (taken.named.get(name, 0), amount)
    return {
        name: f"{in_full(round(used, 3))}{between}{in_full(most)}"
        for name, (used, most) in amounts.items()
    }


def named_in_words(amounts: Mapping[str, float]) -> str:
    """``4 licence, 0.5 scanner``."""
    return ", ".join(f"{amount:g} {name}" for name, amount in sorted(amounts.items()))


def labels_in_words(labels: Mapping[str, str]) -> str:
    """``site=prague``."""
    return ", ".join(f"{name}={value}" for name, value in sorted(labels.items()))
