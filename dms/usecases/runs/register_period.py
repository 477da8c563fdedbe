"""Register a period. A repeated registration returns the first."""

from dms.db.periods import find_period, insert_period
from dms.domain.differences import require_same_request
from dms.domain.errors import require_order
from dms.usecases.runs.span_registration import build_comparable_fields, find_person_name
from sluice.contracts.data.runs import NewPeriod, Period
from sluice.servicekit.database import Database
from sluice.text.visible_text import quoted


async def register_period(database: Database, new: NewPeriod) -> tuple[Period, bool]:
    """Register a period, and return it with True; return the first one with False if it exists.

    Raises:
        Conflict: The period is registered differently.
        EndBeforeStart: It ends before it starts.
    """
    require_order(f"period {quoted(new.name)}", new.started_at, new.ended_at)
    async with database.transaction() as transaction:
        connection = transaction.connection
        created = await insert_period(connection, new, find_person_name())
        first = created or await find_period(connection, new.name)
    assert first is not None  # noqa: S101 - the name was taken a moment ago, and periods are never forgotten
    require_same_request(
        f"period {quoted(new.name)}", *build_comparable_fields(first, new, counter="runs")
    )
    return first, created is not None
