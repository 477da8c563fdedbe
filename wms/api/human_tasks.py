"""Routes of human tasks, for the service that asks people."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import NotFound, Unprocessable
from sluice.contracts.human_tasks.annotation import (
    AcceptedAnswers,
    AnsweredJobs,
    HumanJobList,
    HumanTaskList,
)
from sluice.servicekit.access.policy import allow
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints
from wms.api.dependencies import Context
from wms.domain.tokens import MAX_ID
from wms.usecases.reports.accept_answers import accept_answers
from wms.usecases.reports.list_human_jobs import list_human_jobs
from wms.usecases.reports.list_human_tasks import list_human_tasks

router = api_router("/api/v1/asked", tags=["human tasks"])


@router.get("", operation_id="list_human_tasks")
@allow(CallingService.ASK)
async def list_human_tasks_route(context: Context) -> HumanTaskList:
    """List the human tasks that have not ended, oldest first."""
    return await list_human_tasks(context)


@router.get("/{uid}/jobs", operation_id="list_human_jobs", responses=errors(NotFound))
@allow(CallingService.ASK)
async def list_human_jobs_route(
    context: Context,
    uid: UUID,
    after: Annotated[int, Query(ge=0, le=MAX_ID)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> HumanJobList:
    """List the jobs of a human task that wait for answers, by id.

    Only jobs with an id above `after` are listed. No job appears later behind a listed job with
    a lower id, so a client that pages by id misses no job.
    """
    return await list_human_jobs(context, uid, after=after, limit=limit)


@router.post(
    "/{uid}/answers",
    operation_id="report_answers",
    openapi_extra=client_hints(flat_body=True),
    responses=errors(NotFound, Unprocessable),
)
@allow(CallingService.ASK)
async def report_answers_route(context: Context, uid: UUID, body: AnsweredJobs) -> AcceptedAnswers:
    """Finish jobs with the files of their answers, and fail the jobs in `refused`.

    Repeating it is fine. No job is changed (422) if one file is wrong for a job that still
    waits: the file is missing, is not where the task's outputs belong, or does not have the
    name that the job's first attempt would give it. The field `jobs` has the ids of these jobs,
    separated by commas.
    """
    return AcceptedAnswers(jobs=await accept_answers(context, uid, body.jobs, body.refused))
