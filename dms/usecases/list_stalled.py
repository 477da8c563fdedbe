"""Which uploads and deletions do not go on, and why."""

from dms.db.stalled import stalled
from dms.domain.failures import LASTING
from sluice.contracts.datasets import Stalled, StalledList
from sluice.contracts.owners import ALL, Sight
from sluice.servicekit.database import Database


async def list_stalled(database: Database, *, limit: int, sight: Sight = ALL) -> StalledList:
    """Those that failed several times and that nobody is at now, and those that wait for a person;
    at most ``limit`` reasons. Effect: none. Errors: none.
    """
    async with database.connection() as connection:
        rows = await stalled(connection, failures=LASTING, limit=limit, sight=sight)
    found = [
        Stalled(
            state=row.first.state, reason=row.reason, halted=row.halted, first=row.first,
            number=row.number, since=row.since
        )
        for row in rows
    ]  # fmt: skip
    in_all = rows[0].in_all if rows else 0
    return StalledList(stalled=found, more=in_all - sum(row.number for row in rows))
