"""Set or correct the end of a period or a run."""

from datetime import datetime
from typing import Any

from dms.db.periods import SpanT, SpanTable, lock_span, set_end
from dms.domain.errors import require_order
from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import Forbidden, NotFound
from sluice.servicekit.access.delegation import person_asking
from sluice.servicekit.database import Database
from sluice.text.visible_text import quoted


async def end_span(
    database: Database, spans: SpanTable[SpanT], key: str | int, ended_at: datetime | None
) -> SpanT:
    """Set the end of a period or a run.

    Whoever registered it may do so, and people with the role *shift*.

    Args:
        database: The database of the service.
        spans: ``PERIODS`` or ``RUNS``.
        key: Name of the period, or number of the run.
        ended_at: The end; None removes it.

    Raises:
        NotFound: The period or run is not registered.
        Forbidden: Somebody else registered it.
        EndsBeforeStart: It would end before it starts.
    """
    label = f"{spans.noun} {quoted(key)}"
    async with database.transaction() as transaction:
        found = await lock_span(transaction.connection, spans, key)
        if found is None:
            fields: dict[str, Any] = {spans.noun: key}
            raise NotFound(f"{label} is not registered", **fields)
        _require_may_end(label, found.owner)
        require_order(label, found.span.started_at, ended_at)
        return await set_end(transaction.connection, spans, key, ended_at)


def _require_may_end(label: str, owner: str | None) -> None:
    by = person_asking()
    if by is None or by.role.includes(Role.SHIFT) or by.name == owner:
        return
    may = (
        f"people with the role {Role.SHIFT}"
        if owner is None
        else f"{owner} or the role {Role.SHIFT}"
    )
    raise Forbidden(
        f"{label} can be ended by {may} only: you are {by.name}, with the role {by.role}"
    )
