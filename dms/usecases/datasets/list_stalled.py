"""List uploads and deletions that make no progress."""

from dms.db.stalled import list_stalled_by_reason
from dms.domain.failures import ATTEMPTS_BEFORE_NOTICE
from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.data.datasets import StalledGroup, StalledList
from sluice.servicekit.database import Database


async def list_stalled(
    database: Database, *, limit: int, visibility: Visibility = ALL
) -> StalledList:
    """Return work that failed several times, or that waits for a person, by reason.

    The list has at most ``limit`` reasons. Data sets that an instance works on now are left out.
    """
    async with database.connection() as connection:
        rows = await list_stalled_by_reason(
            connection, failures=ATTEMPTS_BEFORE_NOTICE, limit=limit, visibility=visibility
        )
    groups = [
        StalledGroup(
            state=row.first.state, reason=row.reason, halted=row.halted, first=row.first,
            number=row.number, since=row.since
        )
        for row in rows
    ]  # fmt: skip
    in_all = rows[0].in_all if rows else 0
    return StalledList(stalled=groups, more=in_all - sum(row.number for row in rows))
