"""Trust in workers: a worker that fails where others succeed gets fewer jobs.

If it fails often, it only gets a job occasionally.
"""

from collections.abc import Mapping

from sluice.servicekit.database import Connection
from wms.db.pilots.pilots_with_jobs import list_pilots_with_jobs
from wms.db.pilots.worker_times import (
    Worker,
    WorkKind,
    list_active_workers,
    list_failing_works,
    list_times,
    may_probe,
)
from wms.domain.scheduling.worker_times import WorkerLimit, combine_times, decide_worker_limit

#: Seconds between two jobs that show whether a worker without trust still fails.
PROBE_EVERY = 30.0

#: Workers that are not fully trusted, by kind of work.
WorkerTrouble = Mapping[WorkKind, Mapping[Worker, WorkerLimit]]


async def find_failing_workers(connection: Connection) -> WorkerTrouble:
    """Return the workers that fail where other active workers succeed.

    Workers that are gone do not count: they are no reason to let work wait.
    """
    works = await list_failing_works(connection)
    if not works:
        return {}
    present = await list_active_workers(connection)
    limits_by_work: dict[WorkKind, dict[Worker, WorkerLimit]] = {}
    for work, workers in (await list_times(connection, works)).items():
        for worker, own in workers.items():
            others = combine_times(
                times for other, times in workers.items() if other != worker and other in present
            )
            if (limit := decide_worker_limit(own, others)) is not WorkerLimit.FULL:
                limits_by_work.setdefault(work, {})[worker] = limit
    return limits_by_work


async def limit_jobs_of_worker(
    connection: Connection,
    limit: WorkerLimit,
    work: WorkKind,
    worker: Worker,
    *,
    requested_jobs: int,
) -> int:
    """Return how many of the jobs that a pilot could start it gets now.

    A job that shows whether the worker still fails is recorded.
    """
    match limit:
        case WorkerLimit.FULL:
            return requested_jobs
        case WorkerLimit.SUSPECT:
            busy = any(
                job.work == work
                for pilot in await list_pilots_with_jobs(connection, [worker])
                for job in pilot.jobs
            )
            return 0 if busy else min(requested_jobs, 1)
        case WorkerLimit.NONE:
            probes = requested_jobs and await may_probe(connection, work, worker, every=PROBE_EVERY)
            return int(bool(probes))


def list_quarantined_steps(worker_trouble: WorkerTrouble, worker: Worker) -> list[str]:
    """Return the steps for which the worker is quarantined."""
    return sorted(
        {
            work.step
            for work, limits in worker_trouble.items()
            if limits.get(worker) is WorkerLimit.NONE
        }
    )
