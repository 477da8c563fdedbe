"""Limits on resources that are counted over all nodes (REST)."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from sluice.contracts.base import Contract, Timestamp, absent
from sluice.contracts.resources import Amount, ResourceName


class LimitPeriod(StrEnum):
    """After which a quota is full again; each begins with its first second, in UTC."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"


class SetLimit(Contract):
    """``period`` None: so many at a time; else so many in each."""

    name: ResourceName
    amount: Amount
    period: LimitPeriod | None = None


class ResourceLimit(Contract):
    """``used``: held now by jobs that pilots have, or spent in this period. ``refills``: when it is
    full again. ``waiting``: jobs that are ready and need some."""

    name: ResourceName
    amount: Amount
    period: Annotated[LimitPeriod | None, Field(exclude_if=absent)] = None
    used: float = 0.0
    refills: Annotated[Timestamp | None, Field(exclude_if=absent)] = None
    waiting: int = 0


class LimitList(Contract):
    limits: list[ResourceLimit]
