"""Routes for operators: pilots."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.chains.attention import Acknowledge
from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.jobs.warm_workers import LoadTool
from sluice.contracts.pilots.pilot_detail import PilotDetail
from sluice.contracts.pilots.pilot_list import PilotList
from sluice.servicekit.access.policy import SHIFT, VIEWERS, allow
from sluice.servicekit.access.principal_dependencies import CallerVisibility
from sluice.servicekit.web.http import api_router, errors
from wms.api.dependencies import Context
from wms.db.pilots.pilot_pages import MAX_PILOTS_PER_PAGE, PilotQuery
from wms.usecases.leasing.load_tool import load_tool
from wms.usecases.pilots.acknowledge_pilot import acknowledge_pilot
from wms.usecases.pilots.drain_pilot import drain_pilot
from wms.usecases.pilots.get_pilot import get_pilot
from wms.usecases.pilots.list_pilots import list_pilots
from wms.usecases.pilots.remove_pilot import remove_pilot
from wms.usecases.pilots.stop_pilot import stop_pilot

Attention = Annotated[
    bool,
    Query(
        description="Only lost pilots that nobody has acknowledged and that did not start again."
    ),
]


router = api_router("/api/v1/pilots", tags=["pilots"])


@router.get("", operation_id="list_pilots", responses=errors(Unprocessable))
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def list_pilots_route(
    context: Context,
    *,
    name: Annotated[str | None, Query(description="Only pilots with this name.")] = None,
    attention: Attention = False,
    after: str | None = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PILOTS_PER_PAGE)] = MAX_PILOTS_PER_PAGE,
) -> PilotList:
    """List pilots: present ones, then unacknowledged lost ones, then those ended within a day.

    Within each kind the latest comes first. `after` is the `after` of the previous page.
    """
    return await list_pilots(context, PilotQuery(name, attention, after, limit))


@router.get("/{uid}", operation_id="get_pilot", responses=errors(NotFound))
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def get_pilot_route(context: Context, uid: UUID, visibility: CallerVisibility) -> PilotDetail:
    """Return a pilot with its jobs, last attempts and failures.

    Jobs that the caller may not see are left out.
    """
    return await get_pilot(context, uid, visibility)


@router.post(
    "/{uid}/drain", operation_id="drain_pilot", status_code=204, responses=errors(NotFound)
)
@allow(CallingService.OPERATOR, gateway=SHIFT)
async def drain_pilot_route(context: Context, uid: UUID) -> None:
    """Ask a pilot to finish its jobs and end.

    It gets no more jobs. The request may be repeated.
    """
    await drain_pilot(context, uid)


@router.post(
    "/{uid}/stop",
    operation_id="stop_pilot",
    status_code=204,
    responses=errors(NotFound, Conflict),
)
@allow(CallingService.OPERATOR, gateway=SHIFT)
async def stop_pilot_route(context: Context, uid: UUID) -> None:
    """Ask a pilot to stop its jobs, return them, and end.

    Other pilots get its jobs at once; this does not count against the jobs. The request may be
    repeated. If the pilot has ended: 409.
    """
    await stop_pilot(context, uid)


@router.put(
    "/{uid}/load",
    operation_id="load_tool",
    status_code=204,
    responses=errors(NotFound, Conflict),
)
@allow(CallingService.OPERATOR)
async def load_tool_route(context: Context, uid: UUID, body: LoadTool) -> None:
    """Let a pilot take a step's jobs first, to load the step's tool there; `null` ends this."""
    await load_tool(context, uid, body)


@router.delete(
    "/{uid}", operation_id="remove_pilot", status_code=204, responses=errors(NotFound, Conflict)
)
@allow(CallingService.OPERATOR, gateway=SHIFT)
async def remove_pilot_route(context: Context, uid: UUID) -> None:
    """Remove an ended or lost pilot from the lists until it comes back.

    If the pilot is present: 409.
    """
    await remove_pilot(context, uid)


@router.post(
    "/{uid}/acknowledge",
    operation_id="acknowledge_pilot",
    status_code=204,
    responses=errors(NotFound, Conflict),
)
@allow(CallingService.OPERATOR, gateway=SHIFT)
async def acknowledge_pilot_route(context: Context, uid: UUID, body: Acknowledge) -> None:
    """Acknowledge the loss of a pilot.

    Another person is told who was first (409).
    """
    await acknowledge_pilot(context, uid, body)
