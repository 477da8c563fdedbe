"""Set, or correct, when a period or a run ended."""

from datetime import datetime
from typing import Any

from dms.db.periods import Spans, SpanT, lock_span, set_end
from dms.domain.errors import require_order
from sluice.contracts.problems import NotFound
from sluice.servicekit.database import Database


async def end_span(
    database: Database, spans: Spans[SpanT], key: str | int, ended_at: datetime | None
) -> SpanT:
    """Set when a period or a run ended.

    Args:
        database: The database of the service.
        spans: ``PERIODS`` or ``RUNS``.
        key: Name of the period, or number of the run.
        ended_at: None takes the end back.

    Raises:
        NotFound: It is not registered.
        EndsBeforeStart: It would end before it starts.
    """
    label = f"{spans.noun} {key!r}"
    async with database.transaction() as transaction:
        found = await lock_span(transaction.connection, spans, key)
        if found is None:
            fields: dict[str, Any] = {spans.noun: key}
            raise NotFound(f"{label} is not registered", **fields)
        require_order(label, found.started_at, ended_at)
        return await set_end(transaction.connection, spans, key, ended_at)
