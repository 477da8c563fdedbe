"""Parts of a node, for pilots that share the node."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from pydantic import AfterValidator, StringConstraints

from sluice.contracts.common.wording import StringRule, in_words

ThingT = TypeVar("ThingT")


#: Number and count of a part: ``2/3`` is the second of three.
PartName = Annotated[
    str,
    StringConstraints(pattern=r"^[1-9][0-9]{0,2}/[1-9][0-9]{0,2}$"),
    StringRule(
        "a part of a node",
        first="[1-9]",
        other="[0-9/]",
        max_length=7,
        rule="is written NUMBER/COUNT, such as 1/2 for the first of two pilots",
    ),
]


def _require_existing_part(text: str) -> str:
    number, _, count = text.partition("/")
    if int(number) > int(count):
        raise in_words(f"there is no part {number} of {count}")
    return text


#: The name of a part in the settings of a pilot.
ValidPart = Annotated[PartName, AfterValidator(_require_existing_part)]


@dataclass(frozen=True, slots=True)
class NodePart:
    """A part of a node.

    All parts together have exactly what the node has.

    Attributes:
        number: The number of the part, from 1.
    """

    number: int = 1
    count: int = 1

    @classmethod
    def of(cls, name: str | None) -> "NodePart":
        """Return the part of this name, such as ``2/3``; None is the whole node."""
        number, _, count = (name or "1/1").partition("/")
        return cls(int(number), int(count))

    def amount(self, of: int) -> int:
        """Return the part of an amount that can be divided, the same for all parts."""
        return of // self.count

    def cores(self, of: float) -> float:
        """Return the part of the cores, in thousandths, the same for all parts."""
        return math.floor(1000 * of / self.count) / 1000

    def things(self, of: Sequence[ThingT]) -> list[ThingT]:
        """Return the objects that belong to the part; the parts take them in turn."""
        return list(of[self.number - 1 :: self.count])

    def named_amount(self, of: float) -> float:
        """Return the part of a named resource.

        Whole units are dealt out in turn, because half a licence is of no use.
        """
        each = of // self.count
        return each + min(1.0, max(0.0, of - each * self.count - (self.number - 1)))


def part_in_words(name: str) -> str:
    """Return a part as a phrase, such as ``part 2 of 3 of its node``."""
    number, _, count = name.partition("/")
    return f"part {number} of {count} of its node"
