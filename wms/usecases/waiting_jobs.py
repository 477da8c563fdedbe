"""How many jobs of a task may be made now, where its group or its owner may not have any number of
them waiting. None is refused for ever: the others are made as those that wait are given away.
"""

from collections.abc import Iterable

from sluice.contracts.quotas import Quantity, QuotaHolder, Reached
from sluice.servicekit.database import Connection
from wms.db.quotas import WAITING


class TooManyWait(Exception):
    """No more jobs are made for now."""

    def __init__(self, reached: Reached) -> None:
        super().__init__(f"{reached}: more are made as these are given away")


async def room_for_jobs(
    connection: Connection, holders: Iterable[QuotaHolder], *, most: int
) -> int:
    """At least 1, at most ``most``; nobody else makes jobs of theirs until the transaction ends.
    Raises ``TooManyWait``.
    """
    for holder in holders:
        quota = (await WAITING.bounded(connection, holder)).get(Quantity.WAITING)
        if quota is None or quota.most is None:
            continue
        if not quota.leaves(1):
            raise TooManyWait(Reached(holder, Quantity.WAITING, quota, 1))
        most = min(most, quota.most - quota.used)
    return most


async def require_room(
    connection: Connection, holders: Iterable[QuotaHolder], *, jobs: int
) -> None:
    """For so many, of one page. What was read as one goes in as one where nothing else waits.
    Raises ``TooManyWait``.
    """
    if not jobs:
        return
    for holder in holders:
        quota = (await WAITING.bounded(connection, holder)).get(Quantity.WAITING)
        if quota is not None and not quota.leaves(jobs if quota.used else 1):
            raise TooManyWait(Reached(holder, Quantity.WAITING, quota, jobs))
