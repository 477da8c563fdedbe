"""Quotas: how much a group or a person uses and may use."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from sluice.contracts.common.base import Contract
from sluice.contracts.common.numbers import format_count, size_text

Most = Annotated[int, Field(ge=0, le=2**53, strict=True)]

#: No limit.
UNBOUNDED = "none"
NewLimit = Most | Literal["none"] | None

#: The name of a group or a person.
HolderName = Annotated[str, Field(max_length=100)]


class HolderKind(StrEnum):
    """The kinds of holders of quotas."""

    GROUP = "group"
    PERSON = "person"


@dataclass(frozen=True, slots=True, order=True)
class QuotaHolder:
    """A group or a person with quotas.

    What members of a group own counts for the group. What a person created counts for the person.
    """

    kind: HolderKind
    name: str

    def __str__(self) -> str:
        return f"the group {self.name}" if self.kind is HolderKind.GROUP else self.name


def quota_holders(*, group: str, owner: str | None) -> list[QuotaHolder]:
    """Return the holders of an object, in the order in which they are locked.

    Args:
        group: The group that owns the object.
        owner: The person who created the object, if known.
    """
    holders = [QuotaHolder(HolderKind.GROUP, group)]
    return holders if owner is None else [*holders, QuotaHolder(HolderKind.PERSON, owner)]


class Quantity(StrEnum):
    """What quotas limit.

    ``chains``: chains that have not ended. ``bytes`` and ``files``: the contents of data sets that
    are not deleted. ``waiting``: jobs that wait for a pilot.
    """

    CHAINS = "chains"
    BYTES = "bytes"
    FILES = "files"
    WAITING = "waiting"

    def number(self, number: int) -> str:
        """Return an amount as text, as in ``2`` or ``1.5 GB``."""
        return size_text(number) if self is Quantity.BYTES else str(number)

    def in_words(self, number: int) -> str:
        """Return an amount with its noun, as in ``2 chains at a time`` or ``1.5 GB``."""
        match self:
            case Quantity.CHAINS:
                return f"{format_count(number, 'chain')} at a time"
            case Quantity.BYTES:
                return self.number(number)
            case Quantity.FILES:
                return format_count(number, "file")
            case Quantity.WAITING:
                return f"{format_count(number, 'job')} waiting"


class Quota(Contract):
    """The use of one quantity and its limit.

    Attributes:
        used: The amount in use.
        most: The limit. None means that there is no limit.
    """

    used: int = 0
    most: int | None = None

    def leaves(self, more: int) -> bool:
        """Return whether the quota allows this much more."""
        return self.most is None or self.used + more <= self.most


@dataclass(frozen=True, slots=True)
class ReachedQuota:
    """A quota that does not allow a further amount.

    Attributes:
        more: The amount.
    """

    holder: QuotaHolder
    quantity: Quantity
    quota: Quota
    more: int

    def __str__(self) -> str:
        """Return a sentence such as ``the group ocr may have 2 chains at a time, and has 2``."""
        limit = self.quantity.in_words(self.quota.most or 0)
        return f"{self.holder} may have {limit}, and has {self.quantity.number(self.quota.used)}"


class Holding(Contract):
    """What one holder uses in one service.

    Attributes:
        name: The name of the group or person.
        has: The use and the limit of each quantity that the service counts.
    """

    name: HolderName
    has: dict[Quantity, Quota]


class Holdings(Contract):
    """What all holders of a kind use in one service, by name."""

    kind: HolderKind
    holdings: list[Holding]


class SetQuotaLimits(Contract):
    """A request to change limits of a holder in one service.

    Attributes:
        most: New limits by quantity; null removes a limit. Other limits stay.
    """

    most: dict[Quantity, Most | None]


class Quotas(Contract):
    """The use and the limits of a group or a person in all services.

    The limits of ``bytes`` and ``files`` apply to data that people bring in. Data that jobs write
    counts but is never refused.
    """

    chains: Quota = Quota()
    bytes: Quota = Quota()
    files: Quota = Quota()
    waiting: Quota = Quota()


class SetQuotas(Contract):
    """A request to set limits of a group or a person.

    Null does not change a limit, and ``none`` removes it.
    """

    chains: NewLimit = None
    bytes: NewLimit = None
    files: NewLimit = None
    waiting: NewLimit = None

    def changes(self) -> Mapping[Quantity, int | None]:
        """Return the limits to be changed; None removes a limit."""
        limits = ((quantity, getattr(self, quantity)) for quantity in Quantity)
        return {
            quantity: None if limit == UNBOUNDED else limit
            for quantity, limit in limits
            if limit is not None
        }


class PersonQuotas(Quotas):
    """The quotas of a person. All that the person created counts, in any group."""

    name: HolderName
