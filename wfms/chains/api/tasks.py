"""Routes of tasks, for people and for the watcher's reports."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.chains.chains import ChainTask, ChainTaskList, Release, TaskEnded
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.contracts.common.states import StepState
from sluice.contracts.jobs.tasks import BY_REQUEST, Cancel, Prioritise, TaskStatus
from sluice.servicekit.access.policy import SHIFT, SHIFT_OR_OWNER, VIEWERS, allow
from sluice.servicekit.access.principal_dependencies import CallerVisibility
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints
from wfms.chains.api.dependencies import Context, Wakes
from wfms.chains.usecases.steps.cancel_task import cancel_task
from wfms.chains.usecases.steps.get_task import get_task
from wfms.chains.usecases.steps.list_tasks import TaskQuery, list_tasks
from wfms.chains.usecases.steps.rank_task import rank_task
from wfms.chains.usecases.steps.record_task_end import record_task_end

Limit = Annotated[int, Query(ge=1, le=1000)]


router = api_router("/api/v1/tasks", tags=["tasks"])


@router.get("", operation_id="list_tasks", responses=errors(Unprocessable))
@allow(Role.VIEWER, CallingService.OPERATOR)
async def list_tasks_route(
    context: Context,
    visibility: CallerVisibility,
    *,
    chain_uid: UUID | None = None,
    state: StepState | None = None,
    after: str | None = None,
    limit: Limit = 200,
) -> ChainTaskList:
    """List tasks, those of the newest chains first.

    Counts are left out if the WMS does not answer. `after`: the `after` of the page before.
    """
    return await list_tasks(
        context,
        TaskQuery(
            chain=chain_uid,
            state=state,
            after=after,
            limit=limit,
            visibility=visibility,
        ),
    )


@router.post(
    "/finished",
    operation_id="report_task_end",
    responses=errors(NotFound, Conflict, Unprocessable),
)
@allow(CallingService.WATCHER)
async def report_task_end_route(context: Context, wakes: Wakes, task_ended: TaskEnded) -> Release:
    """Record the end of a task or upload, and return the data sets to delete (repeatable)."""
    release = await record_task_end(context.database, task_ended)
    wakes.change()
    return release


@router.get("/{uid}", operation_id="get_task", responses=errors(NotFound))
@allow(Role.VIEWER, CallingService.OPERATOR, CallingService.WATCHER, gateway=VIEWERS)
async def get_task_route(context: Context, uid: UUID) -> ChainTask:
    """Return a task. Its counts are left out if the WMS does not answer."""
    return await get_task(context, uid)


@router.post(
    "/{uid}/cancel",
    operation_id="cancel_task",
    responses=errors(NotFound, Conflict, NotAvailable),
)
@allow(CallingService.OPERATOR, gateway=SHIFT_OR_OWNER)
async def cancel_task_route(context: Context, uid: UUID, body: Cancel = BY_REQUEST) -> TaskStatus:
    """Cancel a task. The chain service forwards the request to the WMS."""
    return await cancel_task(context, uid, body)


@router.post(
    "/{uid}/rank",
    operation_id="prioritise_task",
    openapi_extra=client_hints(flat_body=True),
    responses=errors(NotFound, Conflict, NotAvailable),
)
@allow(CallingService.OPERATOR, gateway=SHIFT)
async def prioritise_task_route(context: Context, uid: UUID, new: Prioritise) -> TaskStatus:
    """Set the rank of a task. A higher rank runs earlier.

    The chain service forwards the request to the WMS.
    """
    return await rank_task(context, uid, new.rank)
