"""One task with the jobs that failed and the sentence that explains it; and one job with its log."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

from sluice.clients.chains import ChainsClient
from sluice.clients.wms import WmsClient
from sluice.contracts.chains import ChainTask
from sluice.contracts.problems import ServiceError
from sluice.contracts.states import JobState
from sluice.contracts.tasks import Job, TaskStatus
from wfms.operator.domain.progress import Counts, counts_of

#: Failed jobs shown.
MOST_JOBS = 50


@dataclass(frozen=True, slots=True)
class TaskDetail:
    """``more``: there are more failed jobs than shown."""

    row: ChainTask
    explanation: str
    failed: list[Job]
    more: bool

    @property
    def status(self) -> TaskStatus | None:
        return self.row.jobs

    @property
    def counts(self) -> Counts | None:
        return None if self.row.jobs is None or self.row.jobs.total == 0 else counts_of(self.row.jobs)


async def read_task(chains: ChainsClient, wms: WmsClient, uid: UUID) -> TaskDetail:
    """Precondition: none. Effect: none. Raises ``NotFound`` and ``NotAvailable`` of the chain service."""
    row, explanation, failed, held = await asyncio.gather(
        chains.task(uid), _explain(wms, uid), _jobs(wms, uid, JobState.FAILED), _jobs(wms, uid, JobState.HELD)
    )
    jobs = [*held[0], *failed[0]]
    return TaskDetail(row, explanation, jobs[:MOST_JOBS], held[1] or failed[1] or len(jobs) > MOST_JOBS)


async def _explain(wms: WmsClient, uid: UUID) -> str:
    try:
        return (await wms.explain_task(uid)).text
    except ServiceError as error:
        return error.detail


async def _jobs(wms: WmsClient, uid: UUID, state: JobState) -> tuple[list[Job], bool]:
    try:
        page = await wms.jobs(uid, state=state, limit=MOST_JOBS)
    except ServiceError:
        return [], False
    return page.jobs, page.next is not None
