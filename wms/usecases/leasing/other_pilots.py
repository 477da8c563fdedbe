"""Which pilots do a kind of work, how long each takes, and what jobs they have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sluice.servicekit.database import Connection
from wms.db.pilots.pilot_times import PilotIdentity, TimesByWork, WorkKind, list_times
from wms.db.pilots.pilots_with_jobs import AssignedJobRow, PilotWithJobs, list_pilots_with_jobs
from wms.domain.scheduling.duplicate_attempts import estimate_remaining_seconds, is_worth_while
from wms.domain.scheduling.matching import Demand
from wms.domain.scheduling.pilot_times import SUSPECT, PilotTimes, combine_times
from wms.domain.scheduling.reservations import BusyPilot, JobReservation, find_reservations

#: Most pilots that are looked at, fastest first.
_LOOKED_AT = 200


@dataclass(frozen=True, slots=True)
class OtherPilots:
    """The pilots of a kind of work.

    Attributes:
        own_times: Statistics of the kind of work, by pilot.
        quick: Pilots that may end a job before a slower one; none if all take about as long.
        works: Statistics of all kinds of work that these pilots have.
    """

    own_times: Mapping[PilotIdentity, PilotTimes]
    quick: Sequence[PilotWithJobs] = ()
    works: TimesByWork | None = None

    def list_reservations(self, identity: PilotIdentity, demand: Demand) -> list[JobReservation]:
        """Return the ready jobs that others will end before this pilot would end its first.

        A pilot without known times leaves nothing to others.
        """
        own_times = self.own_times.get(identity)
        if own_times is None or not own_times.timed:
            return []
        others = (
            self._describe_busy_pilot(pilot)
            for pilot in self.quick
            if pilot.identity != identity and demand.find_misfit(pilot.node) is None
        )
        return find_reservations(
            own_times.typical, others, ready=demand.ready, waited_seconds=demand.waited
        )

    def _describe_busy_pilot(self, pilot: PilotWithJobs) -> BusyPilot:
        remaining = [(job, self._estimate_remaining(job, pilot.identity)) for job in pilot.jobs]
        return BusyPilot(
            pilot.pilot,
            self.own_times[pilot.identity].typical,
            [seconds for job, seconds in remaining if job.runs],
            [seconds for job, seconds in remaining if not job.runs],
        )

    def _estimate_remaining(self, job: AssignedJobRow, identity: PilotIdentity) -> float:
        """Return the remaining seconds of a job; infinite for unknown work."""
        times = (self.works or {}).get(job.work, {})
        ran = job.since if job.runs else 0.0
        remaining = estimate_remaining_seconds(
            ran, times.get(identity), combine_times(times.values())
        )
        return float("inf") if remaining is None else remaining


async def get_other_pilots(connection: Connection, work: WorkKind) -> OtherPilots:
    """Return the pilots of a kind of work and the jobs of the fast ones."""
    own = (await list_times(connection, [work])).get(work, {})
    timed = {identity: times for identity, times in own.items() if times.timed}
    by_time = sorted(timed, key=lambda identity: timed[identity].typical)
    slowest = max((times.typical for times in timed.values()), default=0.0)
    quick = [
        identity
        for identity in by_time[:_LOOKED_AT]
        if timed[identity].failing <= SUSPECT
        and is_worth_while(slowest - timed[identity].typical, timed[identity].typical)
    ]
    if not quick:
        return OtherPilots(timed)
    pilots = await list_pilots_with_jobs(connection, quick)
    works = {job.work for pilot in pilots for job in pilot.jobs}
    return OtherPilots(timed, pilots, await list_times(connection, works) if works else {})
