"""Tasks and jobs of a fake WMS."""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from sluice.contracts.chains.attention import (
    WorkCounts,
)
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import (
    JobState,
)
from sluice.contracts.jobs.limits import LimitList
from sluice.contracts.jobs.steps import RankStep, StepList, StepPriority
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


def work_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")
    _add_counts(router, rows)

    @router.get("/tasks")
    async def tasks(troubled: bool = False, limit: int = 1000) -> TaskStatusList:
        return TaskStatusList(
            tasks=(rows.troubled() if troubled else list(rows.tasks.values()))[:limit]
        )

    @router.get("/tasks/{uid}/jobs")
    async def jobs(
        uid: UUID,
        *,
        state: JobState | None = None,
        sort: JobOrder = JobOrder.SEQ,
        after: int = 0,
        limit: int = 1000,
    ) -> JobPage:
        jobs_found = [
            job for job in rows.jobs.values() if job.task_uid == uid and state in {None, job.state}
        ]
        jobs_found.sort(key=lambda job: job.seq if sort is JobOrder.SEQ else -(job.seconds or 0))
        return JobPage(
            jobs=jobs_found[after : after + limit],
            after=str(after + limit) if after + limit < len(jobs_found) else None,
        )

    @router.get("/tasks/{uid}/explain")
    async def explain(uid: UUID) -> Explanation:
        status = rows.tasks[uid]
        return Explanation(
            text=f"{status.running} jobs run and {status.ready} wait for a free slot; 8 slots are"
            " busy with it."
        )

    @router.post("/tasks/{uid}/retry")
    async def retry(uid: UUID) -> TaskStatus:
        status = rows.tasks[uid]
        return rows.change(uid, ready=status.ready + status.failed, failed=0, errors={})

    @router.get("/jobs/{job}")
    async def job(job: int) -> Job:
        rows.on_job()
        if job not in rows.jobs:
            raise NotFound(f"there is no job {job}")
        return rows.jobs[job]

    return router


def step_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1/steps")

    @router.get("")
    async def steps() -> StepList:
        return StepList(steps=rows.steps, priorities=list(rows.priorities.values()))

    @router.put("")
    async def prioritise_step(new: RankStep) -> StepList:
        rows.priorities[new.step] = StepPriority(
            **new.model_dump(), since=datetime(2026, 1, 1, tzinfo=UTC)
        )
        return await steps()

    return router


def limit_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1/limits")

    @router.get("")
    async def listed() -> LimitList:
        return LimitList(limits=list(rows.limits.values()))

    return router


def times_routes(rows: Rows) -> APIRouter:
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
            raise NotFound("it has no task yet")
        return rows.timeline

    return router
