"""Trust in workers: a worker that fails where others succeed gets fewer jobs.

If it fails often, it only gets a job now and then.
"""

from collections.abc import Mapping

from sluice.servicekit.database import Connection
from wms.db.pilots.pilots_with_jobs import pilots_with_jobs
from wms.db.pilots.worker_times import (
    Worker,
    WorkKind,
    active_workers,
    failing_works,
    may_probe,
    times_of,
)
from wms.domain.scheduling.worker_times import WorkerLimit, of_all, trust

#: Seconds between two jobs that show whether a worker without trust still fails.
PROBE_EVERY = 30.0

#: Workers that are not fully trusted, by kind of work.
WorkerTrouble = Mapping[WorkKind, Mapping[Worker, WorkerLimit]]


async def look_for_failing(connection: Connection) -> WorkerTrouble:
    """Return the workers that fail where other active workers succeed.

    Workers that are gone do not count: they are no reason to let work wait.
    """
    works = await failing_works(connection)
    if not works:
        return {}
    there = await active_workers(connection)
    found: dict[WorkKind, dict[Worker, WorkerLimit]] = {}
    for work, workers in (await times_of(connection, works)).items():
        for worker, own in workers.items():
            others = of_all(
                times for other, times in workers.items() if other != worker and other in there
            )
            if (how := trust(own, others)) is not WorkerLimit.FULL:
                found.setdefault(work, {})[worker] = how
    return found


async def most_jobs(
    connection: Connection, how: WorkerLimit, work: WorkKind, worker: Worker, *, wanted: int
) -> int:
    """Return how many of the jobs that a pilot could start it gets now.

    A job that shows whether the worker still fails is recorded.
    """
    match how:
        case WorkerLimit.FULL:
            return wanted
        case WorkerLimit.SUSPECT:
            busy = any(
                job.work == work
                for pilot in await pilots_with_jobs(connection, [worker])
                for job in pilot.jobs
            )
            return 0 if busy else min(wanted, 1)
        case WorkerLimit.NONE:
            probes = wanted and await may_probe(connection, work, worker, every=PROBE_EVERY)
            return int(bool(probes))


def steps_of(distrust: WorkerTrouble, worker: Worker) -> list[str]:
    """Return the steps for which the worker is not trusted."""
    return sorted(
        {work.step for work, found in distrust.items() if found.get(worker) is WorkerLimit.NONE}
    )
