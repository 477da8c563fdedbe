"""List the audit events of all services."""

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
)
from sluice.servicekit.audit.rows import list_first_rows, list_request_rows
from wfms.operator.context import OperatorContext
from wfms.operator.monitoring.usecases.check_audit import _OWN

#: Requests whose rows are fetched at once.
_CHUNK = 50


async def list_audit_events(context: OperatorContext, query: AuditFilter) -> AuditPage:
    """Return a page of audit events, newest first.

    Raises:
        Unprocessable: ``after`` is not valid.
        NotAvailable: A service does not answer, so its events would be missing silently.
    """
    search = AuditSearch(**query.model_dump(), also=await _find_dataset_uids(context, query.object))
    async with context.database.connection() as connection:
        own = await list_first_rows(connection, search)
    # People call the DMS directly, too. Other services are asked only for rows of these requests.
    dms_page = await context.audits["dms"].list_first_rows(search)
    firsts = sorted([*own, *dms_page.rows], key=_build_sort_key, reverse=True)
    page_firsts = firsts[: query.limit]
    rows = await _list_rows(context, [row.request for row in page_firsts])
    entries = [_build_entry(first, rows) for first in page_firsts]
    more = len(firsts) > query.limit or len(own) == query.limit or len(dms_page.rows) == query.limit
    last = (
        f"{page_firsts[-1].at.isoformat()}/{page_firsts[-1].request}"
        if page_firsts and more
        else None
    )
    return AuditPage(entries=entries, after=last)


async def _find_dataset_uids(context: OperatorContext, name: str | None) -> list[str]:
    """Return the uids of data sets with this name, because most requests name data sets by uid.

    A uid is returned in the form that audit events have.
    """
    if name is None:
        return []
    with suppress(ValueError):
        return [str(UUID(name))]
    return [str(dataset.uid) for dataset in await context.dms.list_datasets_by_name(name)]


async def _list_rows(
    context: OperatorContext, requests: Sequence[UUID]
) -> Mapping[str, Sequence[AuditRow]]:
    """Return the rows of the requests by service."""
    rows_by_service: dict[str, list[AuditRow]] = {_OWN: []}
    if not requests:
        return rows_by_service
    async with context.database.connection() as connection:
        rows_by_service[_OWN] = await list_request_rows(connection, requests)
    for service, client in context.audits.items():
        chunks = [requests[start : start + _CHUNK] for start in range(0, len(requests), _CHUNK)]
        answers = await asyncio.gather(*map(client.list_rows, chunks))
        rows_by_service[service] = [row for answer in answers for row in answer.rows]
    return rows_by_service


def _build_entry(first: AuditRow, rows: Mapping[str, Sequence[AuditRow]]) -> AuditEntry:
    request_rows = {
        service: [row for row in service_rows if row.request == first.request]
        for service, service_rows in rows.items()
    }
    every = [row for service_rows in request_rows.values() for row in service_rows]
    return AuditEntry(
        request=first.request,
        at=first.at,
        who=first.who,
        role=first.role,
        action=first.action,
        remote=first.remote,
        outcome=_find_outcome(first, every),
        changed=[
            service
            for service, service_rows in request_rows.items()
            if any(row.kind is AuditKind.CHANGED for row in service_rows)
        ],
        facts={name: fact for row in every for name, fact in row.facts.items()},
    )


def _find_outcome(first: AuditRow, rows: Iterable[AuditRow]) -> int | None:
    ended = [row.outcome for row in rows if row.kind is AuditKind.ENDED]
    return ended[-1] if ended else first.outcome


def _build_sort_key(row: AuditRow) -> tuple[datetime, UUID]:
    return row.at, row.request
