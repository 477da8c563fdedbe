"""The audit log of all services."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from uuid import UUID

from sluice.contracts.access.audit import (
    AuditEntry,
    AuditFilter,
    AuditKind,
    AuditPage,
    AuditRow,
    AuditSearch,
    AuditVerdicts,
)
from sluice.servicekit.audit.chain import verdict
from sluice.servicekit.audit.rows import first_rows, rows_of
from wfms.operator.context import OperatorContext

#: The name of this service.
_OWN = "wfms.operator"
#: Requests whose rows are fetched at once.
_CHUNK = 50


async def read_audit(context: OperatorContext, query: AuditFilter) -> AuditPage:
    """Return a page of audit events, newest first.

    Raises:
        Unprocessable: ``after`` is not valid.
        NotAvailable: A service does not answer, so its events would be missing silently.
    """
    search = AuditSearch(**query.model_dump(), also=await _also(context, query.object))
    async with context.database.connection() as connection:
        own = await first_rows(connection, search)
    # People call the DMS directly, too. Other services are asked only for rows of these requests.
    asked = await context.audits["dms"].first_rows(search)
    firsts = sorted([*own, *asked.rows], key=_order, reverse=True)
    shown = firsts[: query.limit]
    rows = await _rows_of(context, [row.request for row in shown])
    entries = [_entry(first, rows) for first in shown]
    more = len(firsts) > query.limit or len(own) == query.limit or len(asked.rows) == query.limit
    last = f"{shown[-1].at.isoformat()}/{shown[-1].request}" if shown and more else None
    return AuditPage(entries=entries, after=last)


async def _also(context: OperatorContext, name: str | None) -> list[str]:
    """Return the uids of data sets with this name, because most requests name data sets by uid.

    A uid is returned in the form that audit events have.
    """
    if name is None:
        return []
    with suppress(ValueError):
        return [str(UUID(name))]
    return [str(dataset.uid) for dataset in await context.dms.datasets_called(name)]


async def check_audit(context: OperatorContext) -> AuditVerdicts:
    """Return the verdict of each service on the integrity of its audit log.

    Raises:
        NotAvailable: A service does not answer.
    """
    own = await verdict(context.database, _OWN)
    others = await asyncio.gather(*(client.verdict() for client in context.audits.values()))
    return AuditVerdicts(services=[own, *others])


async def _rows_of(
    context: OperatorContext, requests: Sequence[UUID]
) -> Mapping[str, Sequence[AuditRow]]:
    """Return the rows of the requests by service."""
    found: dict[str, list[AuditRow]] = {_OWN: []}
    if not requests:
        return found
    async with context.database.connection() as connection:
        found[_OWN] = await rows_of(connection, requests)
    for service, client in context.audits.items():
        chunks = [requests[start : start + _CHUNK] for start in range(0, len(requests), _CHUNK)]
        answers = await asyncio.gather(*map(client.rows_of, chunks))
        found[service] = [row for answer in answers for row in answer.rows]
    return found


def _entry(first: AuditRow, rows: Mapping[str, Sequence[AuditRow]]) -> AuditEntry:
    found = {
        service: [row for row in noted if row.request == first.request]
        for service, noted in rows.items()
    }
    every = [row for noted in found.values() for row in noted]
    return AuditEntry(
        request=first.request,
        at=first.at,
        who=first.who,
        role=first.role,
        action=first.action,
        remote=first.remote,
        outcome=_outcome(first, every),
        changed=[
            service
            for service, noted in found.items()
            if any(row.kind is AuditKind.CHANGED for row in noted)
        ],
        facts={name: fact for row in every for name, fact in row.facts.items()},
    )


def _outcome(first: AuditRow, rows: Iterable[AuditRow]) -> int | None:
    ended = [row.outcome for row in rows if row.kind is AuditKind.ENDED]
    return ended[-1] if ended else first.outcome


def _order(row: AuditRow) -> tuple[datetime, UUID]:
    return row.at, row.request
