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

#: Jobs from which the speed of a worker is known, and the deviation from 1 that is ignored.
ENOUGH_JOBS, ALIKE = 30, 0.05
#: Tolerance for the times of pilots, which are known only to a heartbeat.
SLACK = timedelta(seconds=60)
_ENDED = frozenset({PilotState.GONE, PilotState.LOST})


@dataclass(slots=True)
class WorkerJob:
    """A job of a worker; ``loads`` says that its place did not have the kind loaded."""

    kind: str
    job: RecordedJob
    loads: bool = False

    @property
    def ended(self) -> datetime:
        """Return when it ended."""
        return self.job.began + timedelta(seconds=self.job.seconds)


@dataclass(slots=True, eq=False)
class RecordedWorker:
    """A pilot of a run.

    Attributes:
        pilot: None if it is no longer known.
        most: The most jobs that it had at once.
        speed: Its speed; 1 is the speed of all workers together.
    """

    name: str
    pilot: Pilot | None
    jobs: list[WorkerJob] = field(default_factory=list)
    most: int = 1
    speed: float = 1.0

    def end_before(self, ended: datetime) -> datetime | None:
        """Return when the worker left, or None if it was present when the run ended."""
        pilot = self.pilot
        if pilot is None or pilot.state not in _ENDED or pilot.seen_at >= ended:
            return None
        return max(pilot.seen_at, *(job.ended for job in self.jobs))


def find_workers(
    runs: Sequence[RecordedRun], kinds: Mapping[tuple[str, str], str]
) -> list[RecordedWorker]:
    """Return the workers by name. ``kinds`` has the kinds by template and step."""
    found: dict[tuple[str, UUID | None], RecordedWorker] = {}
    for run in runs:
        called: dict[str, list[Pilot]] = defaultdict(list)
        for pilot in sorted(run.pilots, key=lambda pilot: pilot.registered_at):
            called[pilot.name].append(pilot)
        for step, recorded in run.steps.items():
            for job in recorded.jobs:
                who = _who_had(job, called[job.pilot])
                key = (job.pilot, None if who is None else who.uid)
                worker = found.setdefault(key, RecordedWorker(job.pilot or "unknown", who))
                worker.jobs.append(WorkerJob(kinds[run.template, step], job))
    workers = sorted(found.values(), key=lambda worker: worker.name)
    for worker in workers:
        worker.jobs.sort(key=lambda each: each.job.began)
        _give_places(worker)
    _find_speeds(workers)
    return workers


def _who_had(job: RecordedJob, called: Sequence[Pilot]) -> Pilot | None:
    """Return the pilot that had the job, or None if none of its name is known.

    Of several pilots, it is the last one that was present when the job began.
    """
    there = [
        pilot
        for pilot in called
        if pilot.registered_at - SLACK <= job.began
        and (pilot.state not in _ENDED or job.began <= pilot.seen_at + SLACK)
    ]
    return there[-1] if there else called[-1] if called else None


def _give_places(worker: RecordedWorker) -> None:
    """Give each job a free place, if possible one whose last job was of the same kind."""
    places: list[WorkerJob] = []
    for each in worker.jobs:
        free = [number for number, last in enumerate(places) if last.ended <= each.job.began]
        alike = [number for number in free if places[number].kind == each.kind]
        each.loads = not alike
        if free:
            places[(alike or free)[0]] = each
        else:
            places.append(each)
    worker.most = max(len(places), 1)


def _find_speeds(workers: Sequence[RecordedWorker]) -> None:
    """Set each worker's speed: the mean times of its kinds of jobs, divided by its own times."""
    times: dict[str, list[float]] = defaultdict(list)
    for worker in workers:
        for each in worker.jobs:
            times[each.kind].append(each.job.seconds)
    means = {kind: fmean(seconds) for kind, seconds in times.items()}
    for worker in workers:
        took = sum(each.job.seconds for each in worker.jobs)
        if len(worker.jobs) >= ENOUGH_JOBS and took:
            speed = sum(means[each.kind] for each in worker.jobs) / took
            worker.speed = 1.0 if abs(speed - 1) < ALIKE else max(round(speed, 2), 0.01)


def loading_time(workers: Sequence[RecordedWorker], kind: str, *, step: str) -> float:
    """Return how long a load of the kind takes.

    Pilots that still have it loaded report the time. If none has, it is the difference between the
    median times of jobs that loaded it and of others.
    """
    told = [
        tool.loading
        for worker in workers
        if worker.pilot is not None
        for tool in worker.pilot.loaded
        if tool.step == step and tool.loading
    ]
    if told:
        return fmean(told)
    jobs = [each for worker in workers for each in worker.jobs if each.kind == kind]
    loads = [each.job.seconds for each in jobs if each.loads]
    others = [each.job.seconds for each in jobs if not each.loads]
    return max(median(loads) - median(others), 0.0) if loads and others else 0.0
