"""Tasks and jobs of a fake WMS."""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from sluice.contracts.chains.attention import (
    WorkCounts,
)
from sluice.contracts.common.problems import InvalidCursor
from sluice.contracts.common.states import (
    JobState,
)
from sluice.contracts.jobs.limits import LimitList
from sluice.contracts.jobs.steps import RankStep, StepList, StepPriority, find_priority
from sluice.contracts.jobs.tasks import (
    Explanation,
    Job,
    JobOrder,
    JobPage,
    TaskStatus,
    TaskStatusList,
    UnschedulableList,
)
from sluice.contracts.jobs.times import Timeline, WorkTimes
from tests.integration.operator.fakes.rows import Rows
from wms.db.jobs.job_pages import UnsupportedOrder
from wms.db.tasks.status import no_job
from wms.usecases.times.get_timeline import create_no_task_of_chain


def _add_counts(router: APIRouter, rows: Rows) -> None:
    @router.get("/counts")
    async def counts(troubled: bool = False) -> WorkCounts:
        return (
            rows.work.model_copy(update={"troubled": len(rows.troubled())})
            if troubled
            else rows.work
        )

    @router.get("/unschedulable")
    async def unschedulable(limit: int = 100) -> UnschedulableList:
        tasks = rows.unschedulable
        return UnschedulableList(tasks=tasks[:limit], number=len(tasks))


def make_work_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")
    _add_counts(router, rows)

    @router.get("/tasks")
    async def tasks(troubled: bool = False, limit: int = 1000) -> TaskStatusList:
        return TaskStatusList(tasks=(rows.troubled() if troubled else rows.latest_tasks())[:limit])

    @router.get("/tasks/{uid}/jobs")
    async def jobs(
        uid: UUID,
        *,
        state: JobState | None = None,
        sort: JobOrder = JobOrder.SEQ,
        after: str | None = None,
        limit: int = 1000,
        full: bool = False,
    ) -> JobPage:
        rows.task(uid)
        if sort is not JobOrder.SEQ and state is not None and not state.final:
            raise UnsupportedOrder(sort, state)
        jobs_found = _sort_jobs(
            [
                job
                for job in rows.jobs.values()
                if job.task_uid == uid and state in {None, job.state}
            ],
            sort,
        )
        first = 0 if after is None else _read_cursor(after)
        last = first + limit
        return JobPage(
            jobs=[_remove_details(job, full=full) for job in jobs_found[first:last]],
            after=str(last) if last < len(jobs_found) else None,
        )

    @router.get("/tasks/{uid}/explain")
    async def explain(uid: UUID) -> Explanation:
        status = rows.task(uid)
        return Explanation(
            text=f"{status.running} jobs run and {status.ready} wait for a free slot; 8 slots are"
            " busy with it."
        )

    @router.post("/tasks/{uid}/retry")
    async def retry(uid: UUID) -> TaskStatus:
        return rows.retry(uid)

    @router.get("/jobs/{job}")
    async def job(job: int) -> Job:
        rows.on_job()
        if job not in rows.jobs:
            raise no_job(job)
        return rows.jobs[job].model_copy(update=_NO_DETAILS)

    return router


def _sort_jobs(jobs: list[Job], sort: JobOrder) -> list[Job]:
    if sort is JobOrder.SEQ:
        return sorted(jobs, key=lambda job: job.seq)
    ended = [job for job in jobs if job.state.final]
    memory = sort is JobOrder.MEMORY
    return sorted(ended, key=lambda job: -((job.peak_memory if memory else job.seconds) or 0))


def _read_cursor(after: str) -> int:
    if not after.isdigit():
        raise InvalidCursor(after)
    return int(after)


#: What an answer about one job, and a list that is not full, leave out.
_NO_DETAILS: dict[str, None] = dict.fromkeys(
    ("pilot_name", "started_at", "seconds", "peak_memory", "cpu_seconds", "exit_code")
)


def _remove_details(job: Job, *, full: bool) -> Job:
    return job.model_copy(update={"attempts": []} if full else {"attempts": [], **_NO_DETAILS})


def make_step_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1/steps")

    @router.get("")
    async def steps() -> StepList:
        priorities = [rows.priorities[key] for key in sorted(rows.priorities)]
        return StepList(
            steps=[
                load.model_copy(
                    update={
                        "priority": find_priority(load.step, load.template, priorities)
                        or load.priority
                    }
                )
                for load in rows.steps
            ],
            priorities=priorities,
        )

    @router.put("")
    async def prioritise_step(new: RankStep) -> StepList:
        key = (new.step, new.template or "")
        if new.priority == 0 and new.template is None:
            rows.priorities.pop(key, None)
        else:
            rows.priorities[key] = StepPriority(
                **new.model_dump(), since=datetime(2026, 1, 1, tzinfo=UTC)
            )
        return await steps()

    return router


def make_limit_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1/limits")

    @router.get("")
    async def listed() -> LimitList:
        return LimitList(limits=[rows.limits[name] for name in sorted(rows.limits)])

    return router


def make_times_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.get("/times")
    async def times(
        chain_uid: Annotated[list[UUID] | None, Query()] = None,
        template: str | None = None,
        since: datetime | None = None,
    ) -> WorkTimes:
        rows.times_asked.append({"chain": chain_uid, "template": template, "since": since})
        return rows.times

    @router.get("/chains/{uid}/timeline")
    async def timeline(uid: UUID) -> Timeline:
        if rows.timeline is None:
            raise create_no_task_of_chain(uid)
        return rows.timeline

    return router
