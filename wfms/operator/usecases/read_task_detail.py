"""Reads one task with a page of its jobs and the sentence that explains it."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

from sluice.clients.wms import WmsClient
from sluice.contracts.chains import STARTING_TEXT, ChainTask
from sluice.contracts.problems import NotFound, ServiceError, Unprocessable
from sluice.contracts.states import JobState
from sluice.contracts.tasks import Job, JobOrder, TaskStatus
from wfms.operator.domain.progress import ProgressCounts, Shortfall, counts_of, shortfall_of
from wfms.operator.usecases.context import OperatorContext

#: Jobs on one page.
PAGE = 50


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs, and in which order: ``state`` None is all of them, by time or memory all that
    have ended.
    """

    state: JobState | None = None
    order: JobOrder = JobOrder.SEQ
    after: str | None = None


@dataclass(frozen=True, slots=True)
class TaskDetail:
    """``jobs``: those that ``shown`` names; ``next``: where their next page begins. None: the WMS
    does not tell.
    """

    row: ChainTask
    explanation: str
    shown: JobFilter
    jobs: list[Job] | None
    next: str | None

    @property
    def status(self) -> TaskStatus | None:
        return self.row.jobs

    @property
    def asks(self) -> bool:
        """Whether jobs of it wait for people."""
        return self.row.jobs is not None and self.row.jobs.asked > 0

    @property
    def counts(self) -> ProgressCounts | None:
        return (
            None if self.row.jobs is None or self.row.jobs.total == 0 else counts_of(self.row.jobs)
        )

    @property
    def shortfall(self) -> Shortfall | None:
        return shortfall_of(self.row.state, self.row.jobs)

    @property
    def states(self) -> list[tuple[JobState, int]]:
        """Those that jobs are in, with their numbers, and that shown."""
        status = self.row.jobs
        counted = [
            (state, getattr(status, state.value) if status is not None else 0) for state in JobState
        ]
        return [(state, count) for state, count in counted if count or state is self.shown.state]


async def read_task_detail(context: OperatorContext, uid: UUID, *, shown: JobFilter) -> TaskDetail:
    """Read a task with its explanation and a page of its jobs.

    Raises:
        NotFound: The chain service knows no such task.
        NotAvailable: The chain service does not answer.
    """
    row, explanation, (jobs, after) = await asyncio.gather(
        context.chains.task(uid, full=True),
        _explain(context.wms, uid),
        _jobs(context.wms, uid, shown),
    )
    if explanation is None:
        explanation = "The WMS does not know the task." if row.state.final else STARTING_TEXT
    return TaskDetail(row, explanation, shown, jobs, after)


async def _explain(wms: WmsClient, uid: UUID) -> str | None:
    """Return a sentence about the task; None where the WMS does not know it."""
    try:
        return (await wms.explain_task(uid)).text
    except NotFound:
        return None
    except ServiceError as error:
        return error.detail


async def _jobs(wms: WmsClient, uid: UUID, shown: JobFilter) -> tuple[list[Job] | None, str | None]:
    try:
        page = await wms.jobs(
            uid, state=shown.state, sort=shown.order, after=shown.after, limit=PAGE, full=True
        )
    except Unprocessable:
        page = await wms.jobs(
            uid, state=shown.state, limit=PAGE, full=True
        )  # what was typed is no place of this list
    except ServiceError:
        return None, None
    return page.jobs, page.after
