"""Set, or correct, when a period or a run ended."""

from datetime import datetime

from dms.db.periods import lock_period, lock_run, set_end_of_period, set_end_of_run
from dms.domain.errors import require_order
from sluice.contracts.datasets import Period, Run
from sluice.contracts.problems import NotFound
from sluice.servicekit.database import Database


async def end_period(database: Database, name: str, ended_at: datetime | None) -> Period:
    """Set when a period ended; None takes the end back.

    Raises:
        NotFound: The period is not registered.
        EndsBeforeStart: It would end before it starts.
    """
    async with database.transaction() as transaction:
        period = await lock_period(transaction.connection, name)
        if period is None:
            raise NotFound(f"period {name!r} is not registered", period=name)
        require_order(f"period {name!r}", period.started_at, ended_at)
        return await set_end_of_period(transaction.connection, name, ended_at)


async def end_run(database: Database, number: int, ended_at: datetime | None) -> Run:
    """Set when a run ended; None takes the end back.

    Raises:
        NotFound: The run is not registered.
        EndsBeforeStart: It would end before it starts.
    """
    async with database.transaction() as transaction:
        run = await lock_run(transaction.connection, number)
        if run is None:
            raise NotFound(f"run {number} is not registered", run=number)
        require_order(f"run {number}", run.started_at, ended_at)
        return await set_end_of_run(transaction.connection, number, ended_at)
