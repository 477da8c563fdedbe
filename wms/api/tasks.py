"""Routes for operators and the WfMS: tasks and jobs."""

from typing import Annotated
from uuid import UUID

from fastapi import Path, Query

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.chains.attention import WorkCounts
from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.common.states import JobState, TaskState
from sluice.contracts.data.storage_space import StorageWaitList
from sluice.contracts.jobs.tasks import (
    BY_REQUEST,
    BoostResult,
    Boosts,
    Cancel,
    Explanation,
    Job,
    JobOrder,
    JobPage,
    Prioritise,
    Schedulability,
    TaskStatus,
    TaskStatusList,
    UnschedulableList,
)
from sluice.servicekit.access.policy import SHIFT_OR_OWNER, VIEWERS, allow
from sluice.servicekit.access.principal_dependencies import CallerVisibility
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints
from wms.api.dependencies import Context
from wms.db.jobs.job_pages import JobQuery
from wms.domain.tokens import MAX_ID
from wms.usecases.leasing.explain_job import explain_job
from wms.usecases.leasing.explain_task import explain_task
from wms.usecases.limits.list_storage_waits import list_storage_waits
from wms.usecases.reports.retry_job import retry_job
from wms.usecases.reports.retry_task import retry_task
from wms.usecases.tasks.boost_tasks import boost_tasks
from wms.usecases.tasks.cancel_task import cancel_task
from wms.usecases.tasks.check_schedulability import check_schedulability
from wms.usecases.tasks.count_work import count_work
from wms.usecases.tasks.get_job import get_job
from wms.usecases.tasks.get_task import get_task
from wms.usecases.tasks.list_jobs import list_jobs
from wms.usecases.tasks.list_tasks import list_tasks
from wms.usecases.tasks.list_troubled_tasks import list_troubled_tasks
from wms.usecases.tasks.list_unschedulable import list_unschedulable
from wms.usecases.tasks.prioritise_task import prioritise_task

JobId = Annotated[int, Path(ge=1, le=MAX_ID)]
Limit = Annotated[int, Query(ge=1, le=10_000)]


router = api_router("/api/v1/tasks", tags=["tasks"])


@router.get("", operation_id="list_tasks")
@allow(Role.VIEWER, CallingService.OPERATOR, CallingService.CHAINS, CallingService.WATCHER)
async def list_tasks_route(
    context: Context,
    visibility: CallerVisibility,
    *,
    uid: Annotated[list[UUID] | None, Query(max_length=1000)] = None,
    state: TaskState | None = None,
    limit: Limit = 1000,
    troubled: Annotated[
        bool,
        Query(description="Only tasks with jobs that failed permanently or are quarantined."),
    ] = False,
) -> TaskStatusList:
    """Return the states of tasks and the numbers of their jobs.

    With `uid`, the tasks of these uids that exist; without, the latest tasks. With `troubled`,
    only those that have not ended and have jobs that failed permanently or are quarantined.
    """
    list_ = list_troubled_tasks if troubled else list_tasks
    return TaskStatusList(
        tasks=await list_(context, uid or [], state=state, limit=limit, visibility=visibility)
    )


@router.get("/{uid}", operation_id="get_task", responses=errors(NotFound))
@allow(Role.VIEWER, CallingService.OPERATOR)
async def get_task_route(context: Context, uid: UUID) -> TaskStatus:
    """Return a task with its state and the numbers of its jobs by state."""
    return await get_task(context, uid)


@router.get("/{uid}/jobs", operation_id="list_jobs", responses=errors(NotFound, Unprocessable))
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def list_jobs_route(
    context: Context,
    uid: UUID,
    *,
    state: JobState | None = None,
    sort: JobOrder = JobOrder.SEQ,
    after: str | None = None,
    limit: Limit = 1000,
    full: Annotated[bool, Query(description="Include pilot, time, memory and exit code.")] = False,
) -> JobPage:
    """List the jobs of a task.

    By default jobs are listed by number, and ready jobs in the order in which they are leased.
    With `sort` by time or memory, only jobs that have ended are listed, the largest value
    first. `after` is the `after` of the previous page with the same order and state.
    """
    return await list_jobs(context, uid, JobQuery(state, sort, after, limit, full))


@router.get("/{uid}/explain", operation_id="explain_task", responses=errors(NotFound))
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def explain_task_route(context: Context, uid: UUID) -> Explanation:
    """Explain why a task does not run, or why it failed."""
    return await explain_task(context, uid)


@router.get("/{uid}/outlook", operation_id="get_outlook", responses=errors(NotFound))
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def get_outlook_route(context: Context, uid: UUID) -> Schedulability:
    """Return whether the jobs of a task will ever find a node."""
    return await check_schedulability(context, uid)


@router.post(
    "/{uid}/rank",
    operation_id="prioritise_task",
    openapi_extra=client_hints(flat_body=True),
    responses=errors(NotFound, Conflict),
)
@allow(CallingService.CHAINS)
async def prioritise_task_route(context: Context, uid: UUID, body: Prioritise) -> TaskStatus:
    """Set the rank of a task; tasks with a higher rank run earlier.

    From then on aging and retries add to this rank. A task that has ended is refused (409).
    """
    return await prioritise_task(context, uid, body.rank)


@router.post("/{uid}/cancel", operation_id="cancel_task", responses=errors(NotFound, Conflict))
@allow(CallingService.CHAINS)
async def cancel_task_route(context: Context, uid: UUID, body: Cancel = BY_REQUEST) -> TaskStatus:
    """Cancel a task with all its open jobs.

    Pilots learn of it with their next heartbeat. Repeating it is fine; the first reason stays.
    A task that has finished or failed is refused (409).
    """
    return await cancel_task(context, uid, body)


@router.post("/{uid}/retry", operation_id="retry_task", responses=errors(NotFound, Conflict))
@allow(CallingService.OPERATOR, gateway=SHIFT_OR_OWNER)
async def retry_task_route(context: Context, uid: UUID) -> TaskStatus:
    """Retry the failed and quarantined jobs of a task, with all their attempts again.

    A task that has ended is refused (409).
    """
    return await retry_task(context, uid)


work_router = api_router("/api/v1", tags=["tasks"])


@work_router.put("/boosts", operation_id="boost")
@allow(CallingService.CHAINS)
async def boost_route(context: Context, body: Boosts) -> BoostResult:
    """Raise the ranks of the given tasks, and of no others, until the next request.

    Ranks that a person has set stay as they are.
    """
    return await boost_tasks(context, body)


@work_router.get("/counts", operation_id="get_counts")
@allow(Role.VIEWER, CallingService.OPERATOR)
async def get_counts_route(
    context: Context,
    visibility: CallerVisibility,
    troubled: Annotated[
        bool,
        Query(
            description="Include the number of tasks with jobs that failed permanently or are"
            " quarantined."
        ),
    ] = False,
) -> WorkCounts:
    """Count the jobs of all tasks that have not ended, and the slots of present pilots.

    Quarantined jobs and tasks with troubled jobs are counted only for groups that the caller
    may see.
    """
    return await count_work(context, troubled=troubled, visibility=visibility)


@work_router.get("/unschedulable", operation_id="list_unschedulable_tasks")
@allow(Role.VIEWER, CallingService.OPERATOR)
async def list_unschedulable_tasks_route(
    context: Context, visibility: CallerVisibility, limit: Limit = 100
) -> UnschedulableList:
    """List the tasks with ready jobs that fit no node, oldest first.

    They fit neither a present node nor one that can be launched.
    """
    return await list_unschedulable(context, limit=limit, visibility=visibility)


@work_router.get("/storage-waits", operation_id="list_storage_waits")
@allow(Role.VIEWER, CallingService.OPERATOR)
async def list_storage_waits_route(
    context: Context, visibility: CallerVisibility
) -> StorageWaitList:
    """List the storages without enough space for the outputs of waiting jobs.

    The storage that jobs wait for longest comes first.
    """
    return await list_storage_waits(context, visibility=visibility)


jobs_router = api_router("/api/v1/jobs", tags=["jobs"])


@jobs_router.get("/{job}", operation_id="get_job", responses=errors(NotFound))
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def get_job_route(context: Context, job: JobId) -> Job:
    """Return a job with its attempts."""
    return await get_job(context, job)


@jobs_router.get("/{job}/explain", operation_id="explain_job", responses=errors(NotFound))
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def explain_job_route(context: Context, job: JobId) -> Explanation:
    """Explain why a job does not run, or why it failed."""
    return await explain_job(context, job)


@jobs_router.post("/{job}/retry", operation_id="retry_job", responses=errors(NotFound, Conflict))
@allow(CallingService.OPERATOR, gateway=SHIFT_OR_OWNER)
async def retry_job_route(context: Context, job: JobId) -> Job:
    """Retry a failed or quarantined job, with all its attempts again.

    A job in another state, or whose task has ended, is refused (409).
    """
    return await retry_job(context, job)
