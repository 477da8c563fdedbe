"""Which workers do a kind of work, how long each takes, and what jobs they have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sluice.servicekit.database import Connection
from wms.db.pilots.pilots_with_jobs import AssignedJobRow, PilotWithJobs, pilots_with_jobs
from wms.db.pilots.worker_times import KnownTimes, Worker, WorkKind, times_of
from wms.domain.scheduling.choice import BusyPilot, JobReservation, reserved_for
from wms.domain.scheduling.duplicate_attempts import is_worth_while, seconds_left
from wms.domain.scheduling.matching import Demand, misfit
from wms.domain.scheduling.worker_times import SUSPECT, WorkerTimes, of_all

#: Most workers that are looked at, fastest first.
_LOOKED_AT = 200


@dataclass(frozen=True, slots=True)
class OtherWorkers:
    """The workers of a kind of work.

    Attributes:
        own: Statistics of the kind of work, by worker.
        quick: Pilots that may end a job before a slower one; none if all take about as long.
        works: Statistics of all kinds of work that these pilots have.
    """

    own: Mapping[Worker, WorkerTimes]
    quick: Sequence[PilotWithJobs] = ()
    works: KnownTimes | None = None

    def kept_from(self, worker: Worker, demand: Demand) -> list[JobReservation]:
        """Return the ready jobs that others will end before this worker would end its first.

        A worker without known times leaves nothing to others.
        """
        asking = self.own.get(worker)
        if asking is None or not asking.timed:
            return []
        others = (
            self._busy(pilot)
            for pilot in self.quick
            if pilot.worker != worker and misfit(demand, pilot.node) is None
        )
        return reserved_for(asking.typical, others, ready=demand.ready, waited=demand.waited)

    def _busy(self, pilot: PilotWithJobs) -> BusyPilot:
        left = [(job, self._left(job, pilot.worker)) for job in pilot.jobs]
        return BusyPilot(
            pilot.pilot,
            self.own[pilot.worker].typical,
            [seconds for job, seconds in left if job.runs],
            [seconds for job, seconds in left if not job.runs],
        )

    def _left(self, job: AssignedJobRow, worker: Worker) -> float:
        """Return the remaining seconds of a job; infinite for unknown work."""
        times = (self.works or {}).get(job.work, {})
        ran = job.since if job.runs else 0.0
        left = seconds_left(ran, times.get(worker), of_all(times.values()))
        return float("inf") if left is None else left


async def find_other_workers(connection: Connection, work: WorkKind) -> OtherWorkers:
    """Read the workers of a kind of work and the jobs of the fast ones."""
    own = (await times_of(connection, [work])).get(work, {})
    known = {worker: times for worker, times in own.items() if times.timed}
    by_time = sorted(known, key=lambda worker: known[worker].typical)
    slowest = max((times.typical for times in known.values()), default=0.0)
    quick = [
        worker
        for worker in by_time[:_LOOKED_AT]
        if known[worker].failing <= SUSPECT
        and is_worth_while(slowest - known[worker].typical, known[worker].typical)
    ]
    if not quick:
        return OtherWorkers(known)
    pilots = await pilots_with_jobs(connection, quick)
    works = {job.work for pilot in pilots for job in pilot.jobs}
    return OtherWorkers(known, pilots, await times_of(connection, works) if works else {})
