"""Register a run. A repeated registration returns the first."""

from dms.db.periods import find_run, insert_run
from dms.domain.differences import require_same_request
from dms.domain.errors import require_order
from dms.usecases.runs.span_registration import build_comparable_fields, find_person_name
from sluice.contracts.data.runs import NewRun, Run
from sluice.servicekit.database import Database


async def register_run(database: Database, new: NewRun) -> tuple[Run, bool]:
    """Register a run, and return it with True; return the first one with False if it exists.

    Raises:
        Conflict: The run is registered differently.
        UnknownPeriod: Its period is not registered.
        EndBeforeStart: It ends before it starts.
    """
    require_order(f"run {new.number}", new.started_at, new.ended_at)
    async with database.transaction() as transaction:
        connection = transaction.connection
        created = await insert_run(connection, new, find_person_name())
        first = created or await find_run(connection, new.number)
    assert first is not None  # noqa: S101 - the number was taken a moment ago, and runs are never forgotten
    require_same_request(
        f"run {new.number}", *build_comparable_fields(first, new, counter="frames")
    )
    return first, created is not None
