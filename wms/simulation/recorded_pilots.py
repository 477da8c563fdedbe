"""Pilots that had jobs of a run: their jobs, their speed, and what they loaded."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import fmean, median
from uuid import UUID

from sluice.contracts.common.states import PilotState
from sluice.contracts.jobs.recorded_run import RecordedJob, RecordedRun
from sluice.contracts.pilots.pilot_list import Pilot

#: Jobs from which the speed of a pilot is known, and the deviation from 1 that is ignored.
ENOUGH_JOBS, ALIKE = 30, 0.05
#: Tolerance for the times of pilots, which are known only to a heartbeat.
SLACK = timedelta(seconds=60)
_ENDED = frozenset({PilotState.GONE, PilotState.LOST})


@dataclass(slots=True)
class PlacedJob:
    """A job of a pilot.

    Attributes:
        loads: Whether its slot did not have the kind loaded.
    """

    kind: str
    job: RecordedJob
    loads: bool = False

    @property
    def ended(self) -> datetime:
        """Return when it ended."""
        return self.job.began + timedelta(seconds=self.job.seconds)


@dataclass(slots=True, eq=False)
class RecordedPilot:
    """A pilot of a run.

    Attributes:
        pilot: None if it is no longer known.
        max_jobs: The most jobs that it had at once.
        speed: Its speed; 1 is the speed of all pilots together.
    """

    name: str
    pilot: Pilot | None
    jobs: list[PlacedJob] = field(default_factory=list)
    max_jobs: int = 1
    speed: float = 1.0

    def end_before(self, ended: datetime) -> datetime | None:
        """Return when the pilot left, or None if it was present when the run ended."""
        pilot = self.pilot
        if pilot is None or pilot.state not in _ENDED or pilot.seen_at >= ended:
            return None
        return max(pilot.seen_at, *(job.ended for job in self.jobs))


def find_recorded_pilots(
    runs: Sequence[RecordedRun], kinds: Mapping[tuple[str, str], str]
) -> list[RecordedPilot]:
    """Return the pilots by name. ``kinds`` has the kinds by template and step."""
    pilots_by_key: dict[tuple[str, UUID | None], RecordedPilot] = {}
    for run in runs:
        pilots_by_name: dict[str, list[Pilot]] = defaultdict(list)
        for pilot in sorted(run.pilots, key=lambda pilot: pilot.registered_at):
            pilots_by_name[pilot.name].append(pilot)
        for step, recorded in run.steps.items():
            for job in recorded.jobs:
                known_pilot = _find_pilot(job, pilots_by_name[job.pilot])
                key = (job.pilot, None if known_pilot is None else known_pilot.uid)
                recorded_pilot = pilots_by_key.setdefault(
                    key, RecordedPilot(job.pilot or "unknown", known_pilot)
                )
                recorded_pilot.jobs.append(PlacedJob(kinds[run.template, step], job))
    recorded_pilots = sorted(pilots_by_key.values(), key=lambda recorded_pilot: recorded_pilot.name)
    for recorded_pilot in recorded_pilots:
        recorded_pilot.jobs.sort(key=lambda placed_job: placed_job.job.began)
        _assign_places(recorded_pilot)
    _find_speeds(recorded_pilots)
    return recorded_pilots


def _find_pilot(job: RecordedJob, pilots: Sequence[Pilot]) -> Pilot | None:
    """Return the pilot that had the job, or None if none of its name is known.

    Of several pilots, it is the last one that was present when the job began.
    """
    present = [
        pilot
        for pilot in pilots
        if pilot.registered_at - SLACK <= job.began
        and (pilot.state not in _ENDED or job.began <= pilot.seen_at + SLACK)
    ]
    return present[-1] if present else pilots[-1] if pilots else None


def _assign_places(recorded_pilot: RecordedPilot) -> None:
    """Give each job a free slot, if possible one whose last job was of the same kind."""
    slots: list[PlacedJob] = []
    for placed_job in recorded_pilot.jobs:
        free = [number for number, last in enumerate(slots) if last.ended <= placed_job.job.began]
        alike = [number for number in free if slots[number].kind == placed_job.kind]
        placed_job.loads = not alike
        if free:
            slots[(alike or free)[0]] = placed_job
        else:
            slots.append(placed_job)
    recorded_pilot.max_jobs = max(len(slots), 1)


def _find_speeds(recorded_pilots: Sequence[RecordedPilot]) -> None:
    """Set each pilot's speed: the mean times of its kinds of jobs, divided by its own times."""
    times: dict[str, list[float]] = defaultdict(list)
    for recorded_pilot in recorded_pilots:
        for placed_job in recorded_pilot.jobs:
            times[placed_job.kind].append(placed_job.job.seconds)
    means = {kind: fmean(seconds) for kind, seconds in times.items()}
    for recorded_pilot in recorded_pilots:
        took = sum(placed_job.job.seconds for placed_job in recorded_pilot.jobs)
        if len(recorded_pilot.jobs) >= ENOUGH_JOBS and took:
            speed = sum(means[placed_job.kind] for placed_job in recorded_pilot.jobs) / took
            recorded_pilot.speed = 1.0 if abs(speed - 1) < ALIKE else max(round(speed, 2), 0.01)


def estimate_loading_time(
    recorded_pilots: Sequence[RecordedPilot], kind: str, *, step: str
) -> float:
    """Return how long a load of the kind takes.

    Pilots that still have it loaded report the time. If none has, it is the difference between the
    median times of jobs that loaded it and of others.
    """
    loading_times = [
        tool.loading
        for recorded_pilot in recorded_pilots
        if recorded_pilot.pilot is not None
        for tool in recorded_pilot.pilot.loaded
        if tool.step == step and tool.loading
    ]
    if loading_times:
        return fmean(loading_times)
    jobs = [
        placed_job
        for recorded_pilot in recorded_pilots
        for placed_job in recorded_pilot.jobs
        if placed_job.kind == kind
    ]
    loads = [placed_job.job.seconds for placed_job in jobs if placed_job.loads]
    others = [placed_job.job.seconds for placed_job in jobs if not placed_job.loads]
    return max(median(loads) - median(others), 0.0) if loads and others else 0.0
