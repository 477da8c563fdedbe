"""Speculative execution: give an idle pilot duplicate attempts at stragglers of other pilots."""

from datetime import UTC, datetime
from uuid import UUID

import structlog

from sluice.contracts.jobs.tasks import Task
from sluice.contracts.pilots.leases import JobToken
from sluice.servicekit.database import Connection
from wms.db.jobs.duplicate_attempts import claim_duplicate
from wms.db.jobs.leases import ClaimedJob
from wms.db.pilots.pilot_times import (
    PilotIdentity,
    RunningJob,
    Stragglers,
    list_running_jobs,
    list_times,
)
from wms.db.pilots.pilots import PilotRow
from wms.domain.scheduling.capacity import PilotCapacity
from wms.domain.scheduling.duplicate_attempts import estimate_gain
from wms.domain.scheduling.matching import Demand
from wms.domain.scheduling.pilot_times import combine_times
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)

#: Most jobs that are looked at, longest first.
_MAX_JOBS = 1000


async def start_duplicate_attempts(
    context: WmsContext,
    connection: Connection,
    pilot: UUID,
    *,
    pilot_row: PilotRow,
    capacity: PilotCapacity,
) -> list[ClaimedJob]:
    """Lease duplicate attempts at jobs that the pilot should end before the pilots that have them.

    Call it if no job is ready that the pilot could start. It gets as many as it can start at once,
    those with the largest gain first. ``capacity`` is its free capacity.
    """
    if not capacity.can_start:
        return []
    stragglers = await context.stragglers.get(None, lambda: _list_stragglers(connection))
    if not stragglers.jobs:
        return []
    candidates = _list_candidates(stragglers, pilot, pilot_row.identity)
    cached_tasks = await context.tasks.get(connection, {job.task_uid for _, job in candidates})
    claimed_jobs: list[ClaimedJob] = []
    for seconds, job in candidates:
        task = cached_tasks[job.task_uid].task
        demand = None if job.tried >= task.retry else _build_demand(task, job)
        if (
            demand is None
            or demand.find_misfit(pilot_row.node) is not None
            or not capacity.can_start_job(demand)
        ):
            continue
        claimed = await claim_duplicate(
            connection,
            JobToken(id=job.id, attempt=job.attempt),
            task=job.task_uid,
            pilot=pilot,
            lease=context.rules.lease_duration,
            max_attempts=task.retry,
        )
        if claimed is None:
            continue
        capacity.take(demand, claimed.ram, claimed.gpu_memory)
        claimed_jobs.append(claimed)
        context.metrics.duplicate_attempts.inc()
        log.info(
            "attempt.duplicated",
            job=job.id,
            attempt=claimed.attempt,
            pilot=str(pilot),
            original_pilot=str(job.pilot),
            ran=round(job.ran, 3),
            gain=round(seconds, 3),
        )
    return claimed_jobs


async def _list_stragglers(connection: Connection) -> Stragglers:
    jobs = await list_running_jobs(connection, limit=_MAX_JOBS)
    times_by_work = await list_times(connection, (job.work for job in jobs)) if jobs else {}
    return Stragglers(
        jobs,
        times_by_work,
        {work: combine_times(times.values()) for work, times in times_by_work.items()},
    )


def _list_candidates(
    stragglers: Stragglers, pilot: UUID, identity: PilotIdentity
) -> list[tuple[float, RunningJob]]:
    """Return jobs that the pilot would end sooner than others, with the gain in seconds.

    The largest gain comes first.
    """
    candidates = []
    for job in stragglers.jobs:
        times = stragglers.times.get(job.work, {})
        seconds = estimate_gain(
            job.ran,
            times.get(job.identity),
            requesting_times=times.get(identity),
            anywhere=stragglers.anywhere.get(job.work),
        )
        if seconds is not None and job.pilot != pilot:
            candidates.append((seconds, job))
    return sorted(candidates, key=lambda pair: -pair[0])


def _build_demand(task: Task, job: RunningJob) -> Demand | None:
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
