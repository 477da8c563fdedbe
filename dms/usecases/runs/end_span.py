"""Set or correct the end of a period or a run."""

from datetime import datetime
from typing import Any

from dms.db.periods import SpanT, SpanTable, lock_span, set_end
from dms.domain.errors import require_order
from dms.usecases.runs.require_owner import require_owner
from sluice.contracts.common.problems import NotFound
from sluice.servicekit.database import Database
from sluice.text.visible_text import quoted


async def end_span(
    database: Database, spans: SpanTable[SpanT], key: str | int, ended_at: datetime | None
) -> SpanT:
    """Set the end of a period or a run.

    The user who registered it may do so, and people with the role *shift*.

    Args:
        database: The database of the service.
        spans: ``PERIODS`` or ``RUNS``.
        key: Name of the period, or number of the run.
        ended_at: The end; None removes it.

    Raises:
        NotFound: The period or run is not registered.
        Forbidden: Somebody else registered it.
        EndBeforeStart: It would end before it starts.
    """
    label = f"{spans.noun} {quoted(key)}"
    async with database.transaction() as transaction:
        locked = await lock_span(transaction.connection, spans, key)
        if locked is None:
            fields: dict[str, Any] = {spans.noun: key}
            raise NotFound(f"{label} is not registered", **fields)
        require_owner(locked.owner, action=f"{label} can be ended")
        require_order(label, locked.span.started_at, ended_at)
        return await set_end(transaction.connection, spans, key, ended_at)
