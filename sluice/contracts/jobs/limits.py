"""Limits on resources that are counted over all nodes."""

from enum import StrEnum

from sluice.contracts.common.base import Contract, Timestamp
from sluice.contracts.jobs.resources import Amount, ResourceName


class LimitPeriod(StrEnum):
    """The period after which a quota is full again.

    Each period begins with its first second in UTC.
    """

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"


class SetLimit(Contract):
    """A request to set a limit.

    Without ``period``, jobs may use this amount at the same time. With ``period``, they may use it
    in each period.
    """

    name: ResourceName
    amount: Amount
    period: LimitPeriod | None = None


class ResourceLimit(Contract):
    """A limit on a resource, and its use.

    ``used`` is the amount that leased and running jobs have, or that was spent in this period.
    ``refills`` is when a quota is full again. ``waiting`` is the number of ready jobs that need the
    resource.
    """

    name: ResourceName
    amount: Amount
    period: LimitPeriod | None = None
    used: float = 0.0
    refills: Timestamp | None = None
    waiting: int = 0


class LimitList(Contract):
    """Limits, by the name of the resource."""

    limits: list[ResourceLimit]
