"""How far a worker is trusted with kinds of work: one that fails where others succeed gets less of
it, then nothing but a job now and then.
"""

from collections.abc import Mapping

from sluice.servicekit.database import Connection
from wms.db.in_hand import in_hand
from wms.db.worker_times import (
    Worker,
    WorkKind,
    active_workers,
    failing_works,
    may_probe,
    times_of,
)
from wms.domain.worker_times import Trust, of_all, trust

#: Seconds between two jobs that one gets to see whether it still fails.
PROBE_EVERY = 30.0

#: Those that are not trusted in full.
Distrust = Mapping[WorkKind, Mapping[Worker, Trust]]


async def look_for_failing(connection: Connection) -> Distrust:
    """Against workers that are there: what others could do, and are gone, is no reason to have work
    wait.
    """
    works = await failing_works(connection)
    if not works:
        return {}
    there = await active_workers(connection)
    found: dict[WorkKind, dict[Worker, Trust]] = {}
    for work, workers in (await times_of(connection, works)).items():
        for worker, own in workers.items():
            others = of_all(
                times for other, times in workers.items() if other != worker and other in there
            )
            if (how := trust(own, others)) is not Trust.FULL:
                found.setdefault(work, {})[worker] = how
    return found


async def most_jobs(
    connection: Connection, how: Trust, work: WorkKind, worker: Worker, *, wanted: int
) -> int:
    """Of those that a pilot could begin, how many it is given now. Effect: where it gets one to see
    whether it still fails, that is noted.
    """
    match how:
        case Trust.FULL:
            return wanted
        case Trust.SUSPECT:
            busy = any(
                job.work == work
                for pilot in await in_hand(connection, [worker])
                for job in pilot.jobs
            )
            return 0 if busy else min(wanted, 1)
        case Trust.NONE:
            probes = wanted and await may_probe(connection, work, worker, every=PROBE_EVERY)
            return int(bool(probes))


def steps_of(distrust: Distrust, worker: Worker) -> list[str]:
    """That it is not trusted with."""
    return sorted(
        {work.step for work, found in distrust.items() if found.get(worker) is Trust.NONE}
    )
