"""Quotas of ready jobs: how many jobs of a task may be made now.

No job is refused forever: more are created as ready jobs are leased.
"""

from collections.abc import Iterable

from sluice.contracts.access.quotas import Quantity, QuotaHolder, ReachedQuota
from sluice.servicekit.database import Connection
from wms.db.tasks.quotas import WAITING


class TooManyReadyJobs(Exception):
    """A quota permits no more ready jobs for now."""

    def __init__(self, reached_quota: ReachedQuota) -> None:
        super().__init__(f"{reached_quota}: more are created as these are leased")


async def count_allowed_jobs(
    connection: Connection, holders: Iterable[QuotaHolder], *, limit: int
) -> int:
    """Return how many jobs may be made, from 1 to ``limit``.

    No other transaction makes jobs of these owners until this one ends.

    Raises:
        TooManyReadyJobs: A quota permits no more ready jobs.
    """
    for holder in holders:
        quota = (await WAITING.bounded(connection, holder)).get(Quantity.WAITING)
        if quota is None or quota.most is None:
            continue
        if not quota.leaves(1):
            raise TooManyReadyJobs(ReachedQuota(holder, Quantity.WAITING, quota, 1))
        limit = min(limit, quota.most - quota.used)
    return limit


async def require_capacity(
    connection: Connection, holders: Iterable[QuotaHolder], *, jobs: int
) -> None:
    """Check that this number of jobs of one page may be made.

    A page that exceeds the quota is accepted if no other jobs of the owner are ready.

    Raises:
        TooManyReadyJobs: A quota permits no more ready jobs.
    """
    if not jobs:
        return
    for holder in holders:
        quota = (await WAITING.bounded(connection, holder)).get(Quantity.WAITING)
        if quota is not None and not quota.leaves(jobs if quota.used else 1):
            raise TooManyReadyJobs(ReachedQuota(holder, Quantity.WAITING, quota, jobs))
