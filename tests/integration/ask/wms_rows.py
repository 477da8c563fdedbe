"""A fake WMS for the ask service: its routes and contracts over rows of a test."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from uuid import UUID

from fastapi import APIRouter, FastAPI

from sluice.contracts.common.problems import NotFound, Unprocessable
from sluice.contracts.common.states import ReportAnswer
from sluice.contracts.human_tasks.annotation import (
    AcceptedAnswer,
    AcceptedAnswers,
    AnsweredJob,
    AnsweredJobs,
    HumanJob,
    HumanJobList,
    HumanTask,
    HumanTaskList,
    RefusedJob,
)
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.web.http import Health, create_app
from tests.callers import open_to_all


@dataclass
class AskedRows:
    """The tasks and jobs of a fake WMS.

    ``answered`` has the accepted answers in order, ``again`` the repeated ones, and ``refused``
    each refusal. ``stale`` jobs wait for no answer any more. ``find_nothing``: the files of the
    next answers are not found; the files of ``missing`` jobs are never found. ``ended`` tasks are
    not listed any more. ``meanwhile`` runs once, between the query of tasks and its answer.
    """

    tasks: dict[UUID, HumanTask] = field(default_factory=dict)
    jobs: dict[UUID, list[HumanJob]] = field(default_factory=dict)
    answered: list[AnsweredJob] = field(default_factory=list)
    again: list[int] = field(default_factory=list)
    refused: list[RefusedJob] = field(default_factory=list)
    lose_answer: bool = False
    ended: set[UUID] = field(default_factory=set)
    stale: set[int] = field(default_factory=set)
    find_nothing: bool = False
    meanwhile: Callable[[], Awaitable[object]] | None = None
    missing: set[int] = field(default_factory=set)

    def app(self) -> FastAPI:
        router = open_to_all(self._routes())
        return create_app("wms", [router], health=Health({}), metrics=ServiceMetrics())

    def _routes(self) -> APIRouter:
        router = APIRouter(prefix="/api/v1/asked")

        @router.get("")
        async def tasks() -> HumanTaskList:
            living = [task for task in self.tasks.values() if task.uid not in self.ended]
            task_list = HumanTaskList(tasks=living)
            if self.meanwhile is not None:
                happens, self.meanwhile = self.meanwhile, None
                await happens()
            return task_list

        @router.get("/{uid}/jobs")
        async def jobs(uid: UUID, after: int = 0, limit: int = 200) -> HumanJobList:
            if uid not in self.tasks:
                raise NotFound(f"there is no task {uid}")
            done = {job.id for job in self.answered} | {job.id for job in self.refused}
            waiting = [job for job in self.jobs[uid] if job.id > after and job.id not in done]
            return HumanJobList(jobs=waiting[:limit])

        @router.post("/{uid}/answers")
        async def answers(uid: UUID, answered_jobs: AnsweredJobs) -> AcceptedAnswers:
            if uid not in self.tasks:
                raise NotFound(f"there is no task {uid}")
            if self.find_nothing:
                self.find_nothing = False
                raise Unprocessable("there are no such files")
            if missing_jobs := sorted(self.missing & {job.id for job in answered_jobs.jobs}):
                raise Unprocessable(
                    "there are no such files", jobs=",".join(map(str, missing_jobs))
                )
            taken = AcceptedAnswers(jobs=[self._take(job) for job in answered_jobs.jobs])
            self.refused += answered_jobs.refused
            if self.lose_answer:
                self.lose_answer = False
                raise ConnectionResetError("the answer was lost")
            return taken

        return router

    def _take(self, job: AnsweredJob) -> AcceptedAnswer:
        if job.id in self.stale:
            return AcceptedAnswer(id=job.id, answer=ReportAnswer.STALE)
        if job.id in {one.id for one in self.answered}:
            self.again.append(job.id)
            return AcceptedAnswer(id=job.id, answer=ReportAnswer.ALREADY)
        self.answered.append(job)
        return AcceptedAnswer(id=job.id, answer=ReportAnswer.ACCEPTED)
