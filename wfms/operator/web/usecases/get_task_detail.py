"""A task with an explanation and a page of its jobs."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

from sluice.clients.wms import WmsClient
from sluice.contracts.chains.chains import STARTING_TEXT, ChainTask
from sluice.contracts.common.problems import NotFound, ServiceError, Unprocessable
from sluice.contracts.common.states import JobState
from sluice.contracts.jobs.tasks import Job, JobOrder, TaskStatus
from wfms.operator.chains.domain.progress import Shortfall, find_shortfall
from wfms.operator.context import OperatorContext
from wfms.operator.web.domain.progress_bar import ProgressCounts, find_job_counts

#: Jobs on one page.
PAGE = 50


@dataclass(frozen=True, slots=True)
class JobFilter:
    """The selection and order of jobs.

    Without ``state`` all jobs are selected. An order by time or memory selects those that ended.
    """

    state: JobState | None = None
    order: JobOrder = JobOrder.SEQ
    after: str | None = None


@dataclass(frozen=True, slots=True)
class TaskDetail:
    """The content of the page of a task.

    Attributes:
        job_filter: The filter of the jobs.
        jobs: None if the WMS does not answer.
        next: The start of the next page of jobs; None on the last page.
    """

    row: ChainTask
    explanation: str
    job_filter: JobFilter
    jobs: list[Job] | None
    next: str | None

    @property
    def status(self) -> TaskStatus | None:
        """The job counts of the task, if the WMS knows it."""
        return self.row.jobs

    @property
    def asks(self) -> bool:
        """Whether jobs of the task wait for people."""
        return self.row.jobs is not None and self.row.jobs.asked > 0

    @property
    def counts(self) -> ProgressCounts | None:
        """The job counts as parts of a bar, if there are jobs."""
        return find_job_counts(self.row.jobs)

    @property
    def shortfall(self) -> Shortfall | None:
        """The jobs that are missing from a finished step, if any."""
        return find_shortfall(self.row.state, self.row.jobs)

    @property
    def states(self) -> list[tuple[JobState, int]]:
        """The states that jobs are in, with their counts, and the selected state."""
        status = self.row.jobs
        counts_by_state = [
            (state, getattr(status, state.value) if status is not None else 0) for state in JobState
        ]
        return [
            (state, count)
            for state, count in counts_by_state
            if count or state is self.job_filter.state
        ]


async def get_task_detail(
    context: OperatorContext, uid: UUID, *, job_filter: JobFilter
) -> TaskDetail:
    """Return a task with its explanation and a page of its jobs.

    Raises:
        NotFound: There is no such task.
        NotAvailable: The chain service does not answer.
    """
    row, explanation, (jobs, after) = await asyncio.gather(
        context.chains.get_task(uid),
        _explain(context.wms, uid),
        _list_jobs(context.wms, uid, job_filter),
    )
    if explanation is None:
        explanation = "The WMS does not know the task." if row.state.final else STARTING_TEXT
    return TaskDetail(row, explanation, job_filter, jobs, after)


async def _explain(wms: WmsClient, uid: UUID) -> str | None:
    """Return a sentence about the task, or None if the WMS does not know it."""
    try:
        return (await wms.explain_task(uid)).text
    except NotFound:
        return None
    except ServiceError as error:
        return error.detail


async def _list_jobs(
    wms: WmsClient, uid: UUID, job_filter: JobFilter
) -> tuple[list[Job] | None, str | None]:
    try:
        page = await wms.list_jobs(
            uid,
            state=job_filter.state,
            sort=job_filter.order,
            after=job_filter.after,
            limit=PAGE,
            full=True,
        )
    except Unprocessable:
        # The user typed a value for ``after`` that is not valid.
        page = await wms.list_jobs(uid, state=job_filter.state, limit=PAGE, full=True)
    except ServiceError:
        return None, None
    return page.jobs, page.after
