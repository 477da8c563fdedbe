"""Quotas: how much a group, or a person, has of something, and may have."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from sluice.contracts.base import Contract
from sluice.contracts.numbers import counted, size_text

Most = Annotated[int, Field(ge=0, le=2**53, strict=True)]

#: As much as there is.
UNBOUNDED = "none"
MostSaid = Most | Literal["none"] | None

#: A group's name, or a person's.
HolderName = Annotated[str, Field(max_length=100)]


class HolderKind(StrEnum):
    GROUP = "group"
    PERSON = "person"


@dataclass(frozen=True, slots=True, order=True)
class QuotaHolder:
    """Whose members' things count, or who made what counts."""

    kind: HolderKind
    name: str

    def __str__(self) -> str:
        return f"the group {self.name}" if self.kind is HolderKind.GROUP else self.name


def holders_of(*, group: str, owner: str | None) -> list[QuotaHolder]:
    """In the order in which they are locked. ``owner``: None: no person that is known."""
    found = [QuotaHolder(HolderKind.GROUP, group)]
    return found if owner is None else [*found, QuotaHolder(HolderKind.PERSON, owner)]


class Quantity(StrEnum):
    """What is bounded. ``chains``: that have not ended; ``bytes``, ``files``: of data sets that
    are not deleted; ``waiting``: jobs that are to be given away."""

    CHAINS = "chains"
    BYTES = "bytes"
    FILES = "files"
    WAITING = "waiting"

    def number(self, number: int) -> str:
        """``2``, ``1.5 GB``."""
        return size_text(number) if self is Quantity.BYTES else str(number)

    def in_words(self, number: int) -> str:
        """``2 chains at a time``, ``1.5 GB``."""
        match self:
            case Quantity.CHAINS:
                return f"{counted(number, 'chain')} at a time"
            case Quantity.BYTES:
                return self.number(number)
            case Quantity.FILES:
                return counted(number, "file")
            case Quantity.WAITING:
                return f"{counted(number, 'job')} waiting"


class Quota(Contract):
    """``most``: None: as much as there is."""

    used: int = 0
    most: int | None = None

    def leaves(self, more: int) -> bool:
        """Is there room for so many more?"""
        return self.most is None or self.used + more <= self.most


@dataclass(frozen=True, slots=True)
class ReachedQuota:
    """A quota that leaves no room for ``more``."""

    holder: QuotaHolder
    quantity: Quantity
    quota: Quota
    more: int

    def __str__(self) -> str:
        """``the group ocr may have 2 chains at a time, and has 2``."""
        most = self.quantity.in_words(self.quota.most or 0)
        return f"{self.holder} may have {most}, and has {self.quantity.number(self.quota.used)}"


class Holding(Contract):
    """What one holder has in one service."""

    name: HolderName
    has: dict[Quantity, Quota]


class Holdings(Contract):
    """By name."""

    kind: HolderKind
    holdings: list[Holding]


class SetQuotaLimits(Contract):
    """What is not named stays; null: as much as there is."""

    most: dict[Quantity, Most | None]


class Quotas(Contract):
    """Of a group, or a person, in all services. ``bytes`` and ``files``: what people bring in is
    bounded, what jobs write is counted."""

    chains: Quota = Quota()
    bytes: Quota = Quota()
    files: Quota = Quota()
    waiting: Quota = Quota()


class SetQuotas(Contract):
    """What is null, or left out, stays; `none`: as much as there is."""

    chains: MostSaid = None
    bytes: MostSaid = None
    files: MostSaid = None
    waiting: MostSaid = None

    def said(self) -> Mapping[Quantity, int | None]:
        """None: as much as there is."""
        named = ((quantity, getattr(self, quantity)) for quantity in Quantity)
        return {
            quantity: None if most == UNBOUNDED else most
            for quantity, most in named
            if most is not None
        }


class PersonQuotas(Quotas):
    """Of what he made himself, whichever group's it is."""

    name: HolderName
