"""A fake WMS for the ask service: its routes and contracts over rows of a test."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from fastapi import APIRouter, FastAPI

from sluice.contracts.common.problems import Unprocessable
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
from wms.db.tasks.status import no_task


@dataclass
class AskedRows:
    """The tasks and jobs of a fake WMS.

    ``answered`` has the accepted answers in order, ``refused`` the accepted refusals, and ``again``
    the jobs of repeated ones. ``stale`` jobs wait for no answer any more. ``find_nothing``: the
    files of the next answers are not found; the files of ``missing`` jobs are never found.
    ``ended`` tasks are not listed any more. ``meanwhile`` runs once, between the query of tasks and
    its answer.
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
            task_list = HumanTaskList(tasks=self._list_live_tasks())
            if self.meanwhile is not None:
                happens, self.meanwhile = self.meanwhile, None
                await happens()
            return task_list

        @router.get("/{uid}/jobs")
        async def jobs(uid: UUID, after: int = 0, limit: int = 1000) -> HumanJobList:
            self._require_task(uid)
            return HumanJobList(jobs=[job for job in self._waiting(uid) if job.id > after][:limit])

        @router.post("/{uid}/answers")
        async def answers(uid: UUID, answered_jobs: AnsweredJobs) -> AcceptedAnswers:
            self._require_task(uid)
            if self.find_nothing:
                self.find_nothing = False
                raise Unprocessable("there are no such files")
            if missing_jobs := self._find_missing(uid, answered_jobs.jobs):
                raise Unprocessable(
                    "there are no such files", jobs=",".join(map(str, missing_jobs))
                )
            accepted = [self._take(uid, job) for job in answered_jobs.jobs]
            accepted += [self._refuse(uid, job) for job in answered_jobs.refused]
            if self.lose_answer:
                self.lose_answer = False
                raise ConnectionResetError("the answer was lost")
            return AcceptedAnswers(jobs=accepted)

        return router

    def _require_task(self, uid: UUID) -> None:
        if uid not in self.tasks:
            raise no_task(uid)

    def _list_live_tasks(self) -> list[HumanTask]:
        """Return the tasks that have jobs to answer, or get their first jobs later."""
        return [
            task.model_copy(update={"asked": len(self._waiting(uid))})
            for uid, task in self.tasks.items()
            if uid not in self.ended and (self._waiting(uid) or not self.jobs[uid])
        ]

    def _waiting(self, uid: UUID) -> list[HumanJob]:
        done = {job.id for job in self.answered} | {job.id for job in self.refused}
        return [job for job in self.jobs[uid] if job.id not in done]

    def _find_missing(self, uid: UUID, answers: Sequence[AnsweredJob]) -> list[int]:
        """Return the waiting jobs whose files are missing, or not where the task's outputs are."""
        folder = self.tasks[uid].output.dat_out_url
        waiting = {job.id for job in self._waiting(uid)} - self.stale
        return sorted(
            job.id
            for job in answers
            if job.id in waiting
            and (job.id in self.missing or job.output.url != f"{folder}/{job.output.name}")
        )

    def _take(self, uid: UUID, job: AnsweredJob) -> AcceptedAnswer:
        if job.id in {one.id for one in self.answered}:
            self.again.append(job.id)
            return AcceptedAnswer(id=job.id, answer=ReportAnswer.ALREADY)
        if not self._is_waiting(uid, job.id):
            return AcceptedAnswer(id=job.id, answer=ReportAnswer.STALE)
        self.answered.append(job)
        return AcceptedAnswer(id=job.id, answer=ReportAnswer.ACCEPTED)

    def _refuse(self, uid: UUID, job: RefusedJob) -> AcceptedAnswer:
        if job.id in {one.id for one in self.refused}:
            self.again.append(job.id)
        if not self._is_waiting(uid, job.id):
            return AcceptedAnswer(id=job.id, answer=ReportAnswer.STALE)
        self.refused.append(job)
        return AcceptedAnswer(id=job.id, answer=ReportAnswer.ACCEPTED)

    def _is_waiting(self, uid: UUID, job_id: int) -> bool:
        waiting = {job.id for job in self._waiting(uid)}
        return job_id in waiting and job_id not in self.stale
