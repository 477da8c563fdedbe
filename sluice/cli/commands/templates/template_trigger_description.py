"""The description of a template's trigger, and of the data sets that it takes."""

from collections.abc import Iterator

from sluice.cli.system import System
from sluice.clientkit.local_times import local_time
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.problems import NotFound
from sluice.contracts.data.append_only import TemplateTrigger, TriggerDataset
from sluice.contracts.templates.matching import condition_text, describe_trigger
from sluice.contracts.templates.plan import Plan
from sluice.contracts.templates.templates import RUN_VERSION, Template


def accepted_dataset_lines(plan: Plan) -> Iterator[str]:
    """Yield which data sets a template takes, with a line for each condition."""
    conditions = [f"{key} {condition_text(condition)}" for key, condition in plan.match.items()]
    if plan.trigger is not None:
        yield f"runs automatically {describe_trigger(plan.trigger)}"
        if conditions:
            yield "takes new files of append-only data sets where:"
    else:
        yield f"takes data sets where (priority {plan.priority}):"
        conditions = conditions or ["(none: on request only)"]
    yield from (f"  {condition}" for condition in conditions)


def trigger_lines(system: System, template: Template) -> Iterator[str]:
    """Yield when a template with a trigger runs next, and when it ran last."""
    if template.plan.trigger is None or template.version == RUN_VERSION:
        return
    try:
        trigger = system.ask(lambda c: c.operator.get_template_trigger(template.name))
    except NotFound:  # it was published again
        return
    yield from _time_lines(trigger)
    for dataset in trigger.sets:
        yield _dataset_line(dataset)
        if dataset.blocked_reason is not None:
            yield f"  {dataset.blocked_reason}"


def _time_lines(trigger: TemplateTrigger) -> Iterator[str]:
    if trigger.next_at is not None:
        yield f"next time: {local_time(trigger.next_at)}"
    if trigger.last_at is not None:
        yield f"last time: {local_time(trigger.last_at)}: {trigger.outcome}"


def _dataset_line(dataset: TriggerDataset) -> str:
    slices = "no slice yet"
    if dataset.last_at is not None:
        slices = f"{format_count(dataset.slices, 'slice')}, the last {local_time(dataset.last_at)}"
    return f"{dataset.name}: {format_count(dataset.new, 'new file')} of {dataset.files}; {slices}"
