"""Speculative execution: give an idle pilot duplicate attempts at stragglers of other pilots."""

from datetime import UTC, datetime
from uuid import UUID

import structlog

from sluice.contracts.jobs.tasks import Task
from sluice.contracts.pilots.pilots import JobToken
from sluice.servicekit.database import Connection
from wms.db.jobs.duplicate_attempts import claim_second
from wms.db.jobs.leases import ClaimedJob
from wms.db.pilots.pilots import PilotRow
from wms.db.pilots.worker_times import RunningJob, Stragglers, Worker, running_jobs, times_of
from wms.domain.scheduling.capacity import PilotCapacity
from wms.domain.scheduling.duplicate_attempts import gain
from wms.domain.scheduling.matching import Demand, misfit
from wms.domain.scheduling.worker_times import of_all
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)

#: Most jobs that are looked at, longest first.
_LOOKED_AT = 1000


async def start_duplicate_attempts(
    context: WmsContext,
    connection: Connection,
    pilot: UUID,
    *,
    seen: PilotRow,
    room: PilotCapacity,
) -> list[ClaimedJob]:
    """Lease duplicate attempts at jobs that the pilot should end before the pilots that have them.

    Call it if no job is ready that the pilot could start. It gets as many as it can start at once,
    those with the largest gain first. ``room`` is its free capacity.
    """
    if not room.begins:
        return []
    found = await context.stragglers.get(None, lambda: _look(connection))
    if not found.jobs:
        return []
    worth = _worth_while(found, pilot, seen.worker)
    known = await context.tasks.get(connection, {job.task_uid for _, job in worth})
    given: list[ClaimedJob] = []
    for seconds, job in worth:
        task = known[job.task_uid].task
        demand = None if job.tried >= task.retry else _demand(task, job)
        if demand is None or misfit(demand, seen.node) is not None or not room.can_begin(demand):
            continue
        claimed = await claim_second(
            connection,
            JobToken(id=job.id, attempt=job.attempt),
            task=job.task_uid,
            pilot=pilot,
            lease=context.terms.span,
            most=task.retry,
        )
        if claimed is None:
            continue
        room.take(demand, claimed.ram, claimed.gpu_memory)
        given.append(claimed)
        context.metrics.second_attempts.inc()
        log.info(
            "attempt.second",
            job=job.id,
            attempt=claimed.attempt,
            pilot=str(pilot),
            beside=str(job.pilot),
            ran=round(job.ran, 3),
            gain=round(seconds, 3),
        )
    return given


async def _look(connection: Connection) -> Stragglers:
    jobs = await running_jobs(connection, limit=_LOOKED_AT)
    known = await times_of(connection, (job.work for job in jobs)) if jobs else {}
    return Stragglers(jobs, known, {work: of_all(times.values()) for work, times in known.items()})


def _worth_while(found: Stragglers, pilot: UUID, worker: Worker) -> list[tuple[float, RunningJob]]:
    """Return jobs that the worker would end sooner than others, with the gain in seconds.

    The largest gain comes first.
    """
    worth = []
    for job in found.jobs:
        times = found.known.get(job.work, {})
        seconds = gain(
            job.ran,
            times.get(job.worker),
            asking=times.get(worker),
            anywhere=found.anywhere.get(job.work),
        )
        if seconds is not None and job.pilot != pilot:
            worth.append((seconds, job))
    return sorted(worth, key=lambda pair: -pair[0])


def _demand(task: Task, job: RunningJob) -> Demand | None:
    """Return the demand of one job, or None if it must not have two attempts.

    A job that needs a resource counted over all nodes must not: the resource is counted by jobs,
    not by attempts.
    """
    if not task.speculate or task.needs.named:
        return None
    long_ago = datetime.min.replace(tzinfo=UTC)
    return Demand(
        task.uid,
        task.rank,
        long_ago,
        1,
        task.needs,
        larger=job.ram,
        larger_gpu=job.gpu_memory,
    )
