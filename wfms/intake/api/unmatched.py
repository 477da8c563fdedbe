"""Routes of unmatched data sets, waiting handovers and ties among templates."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.chains.intake import (
    Dismissed,
    Rematch,
    Rematched,
    RematchedAll,
    TieList,
    UnmatchedList,
    WaitingHandover,
)
from sluice.contracts.common.base import Timestamp
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound
from sluice.servicekit.access.policy import SHIFT, allow
from sluice.servicekit.access.principal_dependencies import CallerVisibility
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints
from wfms.intake.api.dependencies import Context, Wakes
from wfms.intake.usecases.dismiss_dataset import dismiss_dataset
from wfms.intake.usecases.dismiss_datasets import dismiss_datasets
from wfms.intake.usecases.get_waiting_handover import get_waiting_handover
from wfms.intake.usecases.list_ties import list_ties
from wfms.intake.usecases.list_unmatched import list_unmatched
from wfms.intake.usecases.rematch_all import rematch_all
from wfms.intake.usecases.rematch_dataset import rematch_dataset

Limit = Annotated[int, Query(ge=1, le=1000)]


router = api_router("/api/v1", tags=["unmatched"])


@router.get("/unmatched", operation_id="list_unmatched")
@allow(Role.VIEWER, CallingService.OPERATOR)
async def list_unmatched_route(
    context: Context, visibility: CallerVisibility, limit: Limit = 200
) -> UnmatchedList:
    """List data sets that no chain carries, with the reasons; newest first."""
    return await list_unmatched(context.database, limit=limit, visibility=visibility)


@router.get(
    "/handovers",
    operation_id="get_waiting_handover",
    openapi_extra=client_hints(returns="reason"),
)
@allow(CallingService.OPERATOR)
async def get_waiting_handover_route(context: Context, dataset_uid: UUID) -> WaitingHandover:
    """Return why the chain of a data set has not started although a template takes it."""
    return await get_waiting_handover(context.database, dataset_uid)


@router.get("/ties", operation_id="list_ties")
@allow(Role.VIEWER, CallingService.OPERATOR)
async def list_ties_route(
    context: Context, visibility: CallerVisibility, limit: Limit = 200
) -> TieList:
    """List templates of one priority that matched the same data sets, the latest first."""
    return await list_ties(context.database, limit=limit, visibility=visibility)


@router.delete(
    "/unmatched/{uid}",
    operation_id="dismiss_unmatched",
    status_code=204,
    responses=errors(NotFound, NotAvailable),
)
@allow(CallingService.OPERATOR, gateway=SHIFT)
async def dismiss_unmatched_route(
    context: Context, uid: UUID, visibility: CallerVisibility
) -> None:
    """Remove a data set from the list of unmatched data sets.

    The data set itself stays.
    """
    await dismiss_dataset(context.database, uid, visibility)


@router.delete(
    "/unmatched",
    operation_id="dismiss_all_unmatched",
    openapi_extra=client_hints(seconds=300),
    responses=errors(NotAvailable),
)
@allow(CallingService.OPERATOR, gateway=SHIFT)
async def dismiss_all_unmatched_route(
    context: Context, visibility: CallerVisibility, until: Timestamp
) -> Dismissed:
    """Remove all data sets that were unmatched at `until` from the list.

    The data sets themselves stay.
    """
    return await dismiss_datasets(context.database, until, visibility)


@router.post(
    "/rematch",
    operation_id="rematch",
    openapi_extra=client_hints(flat_body=True),
    responses=errors(NotFound, Conflict, NotAvailable),
)
@allow(CallingService.OPERATOR, gateway=SHIFT)
async def rematch_route(
    context: Context, wakes: Wakes, request: Rematch, visibility: CallerVisibility
) -> Rematched:
    """Match an unmatched data set again, after a template was added or changed."""
    rematched = await rematch_dataset(context, request.dataset_uid, visibility)
    wakes.handover()
    return rematched


@router.post(
    "/rematch-all",
    operation_id="rematch_all",
    openapi_extra=client_hints(seconds=300),
    responses=errors(NotAvailable),
)
@allow(CallingService.OPERATOR, gateway=SHIFT)
async def rematch_all_route(
    context: Context, wakes: Wakes, visibility: CallerVisibility
) -> RematchedAll:
    """Match all unmatched data sets again, and remove deleted ones."""
    rematched = await rematch_all(context, visibility)
    wakes.handover()
    return rematched
