"""Pilots that had jobs of a run: which jobs, how fast each was, and what it loaded."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import fmean, median
from uuid import UUID

from sluice.contracts.pilot_list import Pilot
from sluice.contracts.recorded_run import RecordedJob, RecordedRun
from sluice.contracts.states import PilotState

#: Of fewer jobs nobody knows how fast a worker is; and what is so near to 1 is as fast as others.
ENOUGH_JOBS, ALIKE = 30, 0.05
#: A pilot's times are told by its heartbeats: so much earlier or later it is still the same one.
SLACK = timedelta(seconds=60)
_ENDED = frozenset({PilotState.GONE, PilotState.LOST})


@dataclass(slots=True)
class WorkerJob:
    """``loads``: what it needs was not loaded in its place."""

    kind: str
    job: RecordedJob
    loads: bool = False

    @property
    def ended(self) -> datetime:
        return self.job.began + timedelta(seconds=self.job.seconds)


@dataclass(slots=True, eq=False)
class RecordedWorker:
    """``pilot`` None: nobody knows it any more. ``most``: jobs that it had at once. ``speed``: 1 is
    that of all together."""

    name: str
    pilot: Pilot | None
    jobs: list[WorkerJob] = field(default_factory=list)
    most: int = 1
    speed: float = 1.0

    def end_before(self, ended: datetime) -> datetime | None:
        """When it went, where that was before the run had ended."""
        pilot = self.pilot
        if pilot is None or pilot.state not in _ENDED or pilot.seen_at >= ended:
            return None
        return max(pilot.seen_at, *(job.ended for job in self.jobs))


def find_workers(
    runs: Sequence[RecordedRun], kinds: Mapping[tuple[str, str], str]
) -> list[RecordedWorker]:
    """By name. ``kinds``: by template and step."""
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
    """Of several pilots of a name the one that was there."""
    there = [
        pilot
        for pilot in called
        if pilot.registered_at - SLACK <= job.began
        and (pilot.state not in _ENDED or job.began <= pilot.seen_at + SLACK)
    ]
    return there[-1] if there else called[-1] if called else None


def _give_places(worker: RecordedWorker) -> None:
    """Each job to a place that is free, if there is one to one that had the same kind before."""
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
    """What its jobs take on average, over what they took there."""
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
    """What a load takes: as pilots say that have it loaded still; else by so much as the jobs that
    loaded it took longer than others."""
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
