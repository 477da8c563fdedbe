"""Routes by which a service tells what it has noted."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from sluice.contracts.access import CallingService, Role
from sluice.contracts.audit import AuditRows, AuditVerdict
from sluice.contracts.base import Timestamp
from sluice.contracts.problems import NotAvailable, Unprocessable
from sluice.servicekit.access.policy import allow
from sluice.servicekit.audit.chain import verdict
from sluice.servicekit.audit.rows import AuditQuery, first_rows, rows_of
from sluice.servicekit.database import Database
from sluice.servicekit.http import api_router, errors

Requests = Annotated[
    list[UUID] | None, Query(max_length=1000, description="All rows of these, and nothing else.")
]


def read_place(before: str | None) -> tuple[datetime, UUID] | None:
    """Where a page ended. Raises ``Unprocessable``."""
    if before is None:
        return None
    at, _, request = before.partition("/")
    try:
        return datetime.fromisoformat(at), UUID(request)
    except ValueError as error:
        raise Unprocessable(f"before={before!r} is not the 'next' of a page") from error


def audit_router(database: Database) -> APIRouter:
    router = api_router("/api/v1/audit", tags=["audit"])

    @router.get("", responses=errors(Unprocessable, NotAvailable))
    @allow(Role.ADMIN, CallingService.OPERATOR)
    async def rows(
        *,
        request: Requests = None,
        who: str | None = None,
        what: str | None = None,
        since: Timestamp | None = None,
        until: Timestamp | None = None,
        before: str | None = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> AuditRows:
        """Lists what this service has noted of people's requests: the rows that entries begin
        with, the newest first. `what`: stands in the action. `before`: the `next` of the page
        before."""
        query = AuditQuery(who, what, since, until, read_place(before), limit)
        async with database.connection() as connection:
            found = (
                await rows_of(connection, request)
                if request
                else await first_rows(connection, query)
            )
        return AuditRows(rows=found)

    @router.get("/verdict", responses=errors(NotAvailable))
    @allow(Role.ADMIN, CallingService.OPERATOR)
    async def check() -> AuditVerdict:
        """Looks through all rows: whether they are those that were chained."""
        return await verdict(database, database.source)

    return router
