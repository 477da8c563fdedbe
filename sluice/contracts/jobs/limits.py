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

    Attributes:
        amount: The amount that jobs may use.
        period: The period in which they may use it. None means that they may use it at the same
            time.
    """

    name: ResourceName
    amount: Amount
    period: LimitPeriod | None = None


class ResourceLimit(Contract):
    """A limit on a resource, and its use.

    Attributes:
        used: The amount that leased and running jobs have, or that was spent in this period.
        refills: When a quota is full again.
        waiting: The number of ready jobs that need the resource.
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
