"""Pilots that share a node: which part of it each has."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from pydantic import AfterValidator, StringConstraints

from sluice.contracts.wording import StringRule, in_words

ThingT = TypeVar("ThingT")


#: ``2/3``: the second of three.
PartName = Annotated[
    str,
    StringConstraints(pattern=r"^[1-9][0-9]{0,2}/[1-9][0-9]{0,2}$"),
    StringRule(
        "a part of a node",
        first="[1-9]",
        other="[0-9/]",
        most=7,
        rule="is written NUMBER/COUNT, such as 1/2 for the first of two pilots",
    ),
]


def _is_one_of_them(text: str) -> str:
    number, _, count = text.partition("/")
    if int(number) > int(count):
        raise in_words(f"there is no part {number} of {count}")
    return text


#: As a pilot is told it.
ToldPart = Annotated[PartName, AfterValidator(_is_one_of_them)]


@dataclass(frozen=True, slots=True)
class NodePart:
    """``number``: from 1. What all parts have together is what there is, and no more."""

    number: int = 1
    count: int = 1

    @classmethod
    def of(cls, name: str | None) -> "NodePart":
        """``2/3``; None: all of the node."""
        number, _, count = (name or "1/1").partition("/")
        return cls(int(number), int(count))

    def amount(self, of: int) -> int:
        """Of what can be divided: the same for all."""
        return of // self.count

    def cores(self, of: float) -> float:
        return math.floor(1000 * of / self.count) / 1000

    def things(self, of: Sequence[ThingT]) -> list[ThingT]:
        """In turn, one for each."""
        return list(of[self.number - 1 :: self.count])

    def named(self, of: float) -> float:
        """Whole ones in turn: half a licence is none."""
        each = of // self.count
        return each + min(1.0, max(0.0, of - each * self.count - (self.number - 1)))


def part_in_words(name: str) -> str:
    number, _, count = name.partition("/")
    return f"part {number} of {count} of its node"
