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
    """A job of a worker.

    Attributes:
        loads: Whether its place did not have the kind loaded.
    """

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
    workers_by_key: dict[tuple[str, UUID | None], RecordedWorker] = {}
    for run in runs:
        pilots_by_name: dict[str, list[Pilot]] = defaultdict(list)
        for pilot in sorted(run.pilots, key=lambda pilot: pilot.registered_at):
            pilots_by_name[pilot.name].append(pilot)
        for step, recorded in run.steps.items():
            for job in recorded.jobs:
                worker_pilot = _find_pilot(job, pilots_by_name[job.pilot])
                key = (job.pilot, None if worker_pilot is None else worker_pilot.uid)
                worker = workers_by_key.setdefault(
                    key, RecordedWorker(job.pilot or "unknown", worker_pilot)
                )
                worker.jobs.append(WorkerJob(kinds[run.template, step], job))
    workers = sorted(workers_by_key.values(), key=lambda worker: worker.name)
    for worker in workers:
        worker.jobs.sort(key=lambda worker_job: worker_job.job.began)
        _assign_places(worker)
    _find_speeds(workers)
    return workers


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


def _assign_places(worker: RecordedWorker) -> None:
    """Give each job a free place, if possible one whose last job was of the same kind."""
    places: list[WorkerJob] = []
    for worker_job in worker.jobs:
        free = [number for number, last in enumerate(places) if last.ended <= worker_job.job.began]
        alike = [number for number in free if places[number].kind == worker_job.kind]
        worker_job.loads = not alike
        if free:
            places[(alike or free)[0]] = worker_job
        else:
            places.append(worker_job)
    worker.most = max(len(places), 1)


def _find_speeds(workers: Sequence[RecordedWorker]) -> None:
    """Set each worker's speed: the mean times of its kinds of jobs, divided by its own times."""
    times: dict[str, list[float]] = defaultdict(list)
    for worker in workers:
        for worker_job in worker.jobs:
            times[worker_job.kind].append(worker_job.job.seconds)
    means = {kind: fmean(seconds) for kind, seconds in times.items()}
    for worker in workers:
        took = sum(worker_job.job.seconds for worker_job in worker.jobs)
        if len(worker.jobs) >= ENOUGH_JOBS and took:
            speed = sum(means[worker_job.kind] for worker_job in worker.jobs) / took
            worker.speed = 1.0 if abs(speed - 1) < ALIKE else max(round(speed, 2), 0.01)


def estimate_loading_time(workers: Sequence[RecordedWorker], kind: str, *, step: str) -> float:
    """Return how long a load of the kind takes.

    Pilots that still have it loaded report the time. If none has, it is the difference between the
    median times of jobs that loaded it and of others.
    """
    loading_times = [
        tool.loading
        for worker in workers
        if worker.pilot is not None
        for tool in worker.pilot.loaded
        if tool.step == step and tool.loading
    ]
    if loading_times:
        return fmean(loading_times)
    jobs = [
        worker_job for worker in workers for worker_job in worker.jobs if worker_job.kind == kind
    ]
    loads = [worker_job.job.seconds for worker_job in jobs if worker_job.loads]
    others = [worker_job.job.seconds for worker_job in jobs if not worker_job.loads]
    return max(median(loads) - median(others), 0.0) if loads and others else 0.0
