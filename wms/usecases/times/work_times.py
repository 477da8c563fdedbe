"""Sums of the times of tasks, by step."""

from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.jobs.times import StepTimes, WorkTimes
from wms.db.times.times import TimedTask
from wms.domain.times import Sample, Samples, TimeKind, add_samples


def add_up_times(tasks: Sequence[TimedTask], live: dict[UUID, Samples]) -> WorkTimes:
    """Return the times of tasks by step; ``live`` has the times of tasks that are not ended."""
    samples: dict[str, Samples] = {}
    counts: dict[str, list[int]] = {}
    uncounted = 0
    for task in tasks:
        step = samples.setdefault(task.step, {})
        times = task.times if task.times is not None else live.get(task.uid)
        uncounted += times is None and task.ended_at is not None
        add_samples(step, times or {})
        totals = counts.setdefault(task.step, [0, 0, 0])
        for place, number in enumerate((1, task.finished, task.open)):
            totals[place] += number
    return WorkTimes(
        steps=[
            _build_step_times(name, counts[name], step_samples)
            for name, step_samples in samples.items()
        ],
        waiting=sum(_get_mean(step_samples, TimeKind.WAITING) for step_samples in samples.values()),
        working=sum(_get_mean(step_samples, TimeKind.WORKING) for step_samples in samples.values()),
        passage=max(
            (_get_sample(step_samples, TimeKind.TURNAROUND) for step_samples in samples.values()),
            key=lambda sample: sample.mean,
            default=Sample(),
        ).spread(),
        chains=_measure_chains(tasks).spread(),
        uncounted=uncounted,
    )


def _get_sample(samples: Samples, kind: TimeKind) -> Sample:
    return samples.get(kind, Sample())


def _get_mean(samples: Samples, kind: TimeKind) -> float:
    return _get_sample(samples, kind).mean


def _build_step_times(name: str, counts: list[int], samples: Samples) -> StepTimes:
    tasks, finished, open_jobs = counts
    return StepTimes(
        step=name,
        tasks=tasks,
        finished=finished,
        open=open_jobs,
        waiting=_get_sample(samples, TimeKind.WAITING).spread(),
        working=_get_sample(samples, TimeKind.WORKING).spread(),
        passage=_get_sample(samples, TimeKind.TURNAROUND).spread(),
    )


def _measure_chains(tasks: Sequence[TimedTask]) -> Sample:
    """Return the durations of ended chains, from their first task to the end of the last."""
    by_chain: dict[UUID, list[TimedTask]] = {}
    for task in tasks:
        by_chain.setdefault(task.chain_uid, []).append(task)
    sample = Sample()
    for chain_tasks in by_chain.values():
        ends = [task.ended_at for task in chain_tasks if task.ended_at is not None]
        if len(ends) == len(chain_tasks):
            begin = min(task.created_at for task in chain_tasks)
            sample.add_one((max(ends) - begin).total_seconds())
    return sample
