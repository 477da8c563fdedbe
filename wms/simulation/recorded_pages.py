"""The pages of a run, and the order of its steps.

A step that takes each file as it comes is a further stage of the pages of the step before. Every
other step waits until all steps before it have passed, and has pages of its own.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sluice.contracts.common.states import TaskMode
from sluice.contracts.jobs.recorded_run import RecordedJob, RecordedRun
from sluice.contracts.templates.plan import Plan, PlanStep
from wms.simulation.files import Row

#: Returns the time of a step's job on a node of speed 1.
TimeOf = Callable[[str, RecordedJob], float]


@dataclass(slots=True)
class RunPipeline:
    """Steps that each page passes one after the other.

    Attributes:
        after: Pipelines that have to pass before this one.
        pages: The times of a page's jobs by step, by the number of its file.
    """

    steps: list[str]
    after: list["RunPipeline"]
    pages: dict[int, dict[str, float]] = field(default_factory=dict)

    def rows(self, begin: float) -> list[Row]:
        """Return the pages as rows of a table; all arrive at ``begin``."""
        return [
            Row(begin, tuple(page.get(step) for step in self.steps))
            for _, page in sorted(self.pages.items())
        ]


def pipelines_of(run: RecordedRun, time_of: TimeOf) -> list[RunPipeline]:
    """Return the pipelines of steps that have jobs with times, upstream ones first."""
    found: list[RunPipeline] = []
    of_step: dict[str, RunPipeline] = {}
    for step in sorted(run.plan.steps, key=lambda step: run.plan.depth(step.name)):
        recorded = run.steps.get(step.name)
        if recorded is None or not recorded.jobs:
            continue
        before = _steps_before(run.plan, step, of_step)
        pipelines = list({id(of_step[name]): of_step[name] for name in before}.values())
        if len(pipelines) == 1 and _takes_each_as_it_comes(run.plan, step, before):
            pipeline = pipelines[0]
            pipeline.steps.append(step.name)
            numbers = _pages_of(step, recorded.jobs, pipeline.pages)
        else:
            pipeline = RunPipeline([step.name], pipelines)
            found.append(pipeline)
            numbers = list(range(len(recorded.jobs)))
            if step.mode is TaskMode.MAP and step.batch.files == 1:
                numbers = [job.number for job in recorded.jobs]
        of_step[step.name] = pipeline
        for number, job in zip(numbers, recorded.jobs, strict=True):
            times = pipeline.pages.setdefault(number, {})
            times[step.name] = times.get(step.name, 0.0) + time_of(step.name, job)
    return found


def _steps_before(plan: Plan, step: PlanStep, known: Mapping[str, object]) -> set[str]:
    """Return the upstream steps that ran.

    A step that did not run is replaced by its own upstream steps.
    """
    found: set[str] = set()
    for source in step.sources:
        if source.step is None:
            continue
        if source.step in known:
            found.add(source.step)
        else:
            found |= _steps_before(plan, plan.step(source.step), known)
    return found


def _takes_each_as_it_comes(plan: Plan, step: PlanStep, before: Iterable[str]) -> bool:
    """Return whether the plan lets the step take each file of the steps before as it comes.

    A tree does not, because its levels wait for each other.
    """
    coming = [source.step for given in step.inputs_that_come for source in given.sources]
    spread = any(output.spread for name in before for output in plan.step(name).outputs)
    in_order = all(plan.step(name).mode is TaskMode.MAP for name in before)
    return (
        step.takes_as_they_come
        and not step.groups.tree
        and in_order
        and not spread
        and set(before) <= set(coming)
        and all(not given.next_sources for given in step.inputs_that_come)
    )


def _pages_of(
    step: PlanStep, jobs: Sequence[RecordedJob], pages: Mapping[int, object]
) -> list[int]:
    """Return for each job the last of the pages that it takes."""
    known = sorted(pages)
    if step.mode is TaskMode.MERGE:
        taken, found = 0, []
        for job in jobs:
            taken += job.inputs
            found.append(known[min(max(taken, 1), len(known)) - 1])
        return found
    if step.batch.files == 1:
        return [job.number for job in jobs]
    ends = [*(job.number for job in jobs[1:]), known[-1] + 1]
    return [known[max(bisect_left(known, end) - 1, 0)] for end in ends]
