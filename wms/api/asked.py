"""Routes for the service that asks people."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from sluice.contracts.access import CallingService
from sluice.contracts.asking import AcceptedAnswers, AnsweredJobs, HumanJobList, HumanTaskList
from sluice.contracts.problems import NotFound, Unprocessable
from sluice.servicekit.access.policy import allow
from sluice.servicekit.http import api_router, errors
from wms.domain.tokens import MAX_ID
from wms.usecases.context import WmsContext
from wms.usecases.list_asked import list_asked_jobs, list_asking_tasks
from wms.usecases.take_answers import take_answers


def asked_router(context: WmsContext) -> APIRouter:
    router = api_router("/api/v1/asked", tags=["asked"])

    @router.get("")
    @allow(CallingService.ASK)
    async def asking() -> HumanTaskList:
        """Lists the tasks that people do and that have not ended, the oldest first."""
        return await list_asking_tasks(context)

    @router.get("/{uid}/jobs", responses=errors(NotFound))
    @allow(CallingService.ASK)
    async def jobs(
        uid: UUID,
        after: Annotated[int, Query(ge=0, le=MAX_ID)] = 0,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    ) -> HumanJobList:
        """Lists jobs of a task that wait for the answers of people, by their ids, those behind
        `after`. None appears behind one that was listed before with a lower id."""
        return await list_asked_jobs(context, uid, after=after, limit=limit)

    @router.post("/{uid}/answers", responses=errors(NotFound, Unprocessable))
    @allow(CallingService.ASK)
    async def answers(uid: UUID, given: AnsweredJobs) -> AcceptedAnswers:
        """Finishes jobs with the files of what was answered, and fails those of which nobody can
        be asked. Repeating it is fine. Where a file of a job that is still asked is not there, not
        where the task's outputs belong, or not called as the job's first attempt would call it,
        none is taken (422; the field `jobs` has their ids, with commas between)."""
        return AcceptedAnswers(jobs=await take_answers(context, uid, given.jobs, given.refused))

    return router
