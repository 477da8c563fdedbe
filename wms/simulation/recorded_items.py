"""The items of a run, and the order of its steps.

A step that streams files is a further stage of the items of the step before. Every other step waits
until all steps before it have passed, and has its own items.
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
    """Steps that each item passes one after the other.

    Attributes:
        after: Pipelines that have to pass before this one.
        items: The times of an item's jobs by step, by the number of its file.
    """

    steps: list[str]
    after: list["RunPipeline"]
    items: dict[int, dict[str, float]] = field(default_factory=dict)

    def rows(self, begin: float) -> list[Row]:
        """Return the items as rows of a table; all arrive at ``begin``."""
        return [
            Row(begin, tuple(item.get(step) for step in self.steps))
            for _, item in sorted(self.items.items())
        ]


def build_pipelines(run: RecordedRun, time_of: TimeOf) -> list[RunPipeline]:
    """Return the pipelines of steps that have jobs with times, upstream ones first."""
    pipelines: list[RunPipeline] = []
    pipeline_by_step: dict[str, RunPipeline] = {}
    for step in sorted(run.plan.steps, key=lambda step: run.plan.depth(step.name)):
        recorded = run.steps.get(step.name)
        if recorded is None or not recorded.jobs:
            continue
        before = _list_steps_before(run.plan, step, pipeline_by_step)
        upstream_pipelines = list(
            {id(pipeline_by_step[name]): pipeline_by_step[name] for name in before}.values()
        )
        if len(upstream_pipelines) == 1 and _can_stream(run.plan, step, before):
            pipeline = upstream_pipelines[0]
            pipeline.steps.append(step.name)
            numbers = _list_last_items(step, recorded.jobs, pipeline.items)
        else:
            pipeline = RunPipeline([step.name], upstream_pipelines)
            pipelines.append(pipeline)
            numbers = list(range(len(recorded.jobs)))
            if step.mode is TaskMode.MAP and step.batch.files == 1:
                numbers = [job.number for job in recorded.jobs]
        pipeline_by_step[step.name] = pipeline
        for number, job in zip(numbers, recorded.jobs, strict=True):
            times = pipeline.items.setdefault(number, {})
            times[step.name] = times.get(step.name, 0.0) + time_of(step.name, job)
    return pipelines


def _list_steps_before(
    plan: Plan, step: PlanStep, steps_with_jobs: Mapping[str, object]
) -> set[str]:
    """Return the upstream steps that ran.

    A step that did not run is replaced by its own upstream steps.
    """
    names: set[str] = set()
    for source in step.sources:
        if source.step is None:
            continue
        if source.step in steps_with_jobs:
            names.add(source.step)
        else:
            names |= _list_steps_before(plan, plan.step(source.step), steps_with_jobs)
    return names


def _can_stream(plan: Plan, step: PlanStep, before: Iterable[str]) -> bool:
    """Return whether the plan lets the step stream the files of the steps before.

    A tree does not, because its levels wait for each other.
    """
    streamed_steps = [
        source.step for step_input in step.streamed_inputs for source in step_input.sources
    ]
    spread = any(output.spread for name in before for output in plan.step(name).outputs)
    in_order = all(plan.step(name).mode is TaskMode.MAP for name in before)
    return (
        step.can_stream
        and not step.groups.tree
        and in_order
        and not spread
        and set(before) <= set(streamed_steps)
        and all(not step_input.next_sources for step_input in step.streamed_inputs)
    )


def _list_last_items(
    step: PlanStep, jobs: Sequence[RecordedJob], items: Mapping[int, object]
) -> list[int]:
    """Return for each job the last of the items that it takes."""
    item_numbers = sorted(items)
    if step.mode is TaskMode.MERGE:
        input_count, items_of_jobs = 0, []
        for job in jobs:
            input_count += job.inputs
            items_of_jobs.append(item_numbers[min(max(input_count, 1), len(item_numbers)) - 1])
        return items_of_jobs
    if step.batch.files == 1:
        return [job.number for job in jobs]
    ends = [*(job.number for job in jobs[1:]), item_numbers[-1] + 1]
    return [item_numbers[max(bisect_left(item_numbers, end) - 1, 0)] for end in ends]
