"""Routes that give access to a service's audit log."""

from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import Field

from sluice.contracts.access.access import Role
from sluice.contracts.access.audit import AuditRows, AuditSearch, AuditVerdict
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import NotAvailable, Unprocessable
from sluice.servicekit.access.policy import allow
from sluice.servicekit.audit.chain import verdict
from sluice.servicekit.audit.rows import list_first_rows, list_request_rows
from sluice.servicekit.web.dependencies import AppDatabase
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints


class _AuditQuery(AuditSearch):
    request: Annotated[
        list[UUID] | None,
        Field(max_length=1000, description="Return all rows of these requests, and no others."),
    ] = None


router = api_router("/api/v1/audit", tags=["audit"])


@router.get("", operation_id="list_audit_rows", responses=errors(Unprocessable, NotAvailable))
@allow(Role.ADMIN, CallingService.OPERATOR)
async def list_audit_rows_route(
    database: AppDatabase, query: Annotated[_AuditQuery, Query()]
) -> AuditRows:
    """List audit events of this service: the first row of each request, newest first.

    `what` filters by a part of the action. `object` filters by uid or name of the object that
    was acted on. `after` is the `after` value of the previous page.
    """
    async with database.connection() as connection:
        audit_rows = (
            await list_request_rows(connection, query.request)
            if query.request
            else await list_first_rows(connection, query)
        )
    return AuditRows(rows=audit_rows)


@router.get(
    "/verdict",
    operation_id="get_audit_verdict",
    openapi_extra=client_hints(seconds=300),
    responses=errors(NotAvailable),
)
@allow(Role.ADMIN, CallingService.OPERATOR)
async def get_audit_verdict_route(database: AppDatabase) -> AuditVerdict:
    """Check all audit rows against their chain of digests."""
    return await verdict(database, database.source)
