"""The description of a template's trigger, and of the data sets that it takes."""

from collections.abc import Iterator

from sluice.cli.moments import local_time
from sluice.cli.system import System
from sluice.contracts.common.numbers import counted
from sluice.contracts.common.problems import NotFound
from sluice.contracts.data.append_only import TemplateTrigger, TriggerDataset
from sluice.contracts.templates.matching import condition_text, due_text
from sluice.contracts.templates.plan import Plan
from sluice.contracts.templates.templates import RUN_VERSION, Template


def taken(plan: Plan) -> Iterator[str]:
    """Yield which data sets a template takes, with a line for each condition."""
    conditions = [f"{key} {condition_text(condition)}" for key, condition in plan.match.items()]
    if plan.due is not None:
        yield f"runs by itself {due_text(plan.due)}"
        if conditions:
            yield "takes what is new in standing data sets where:"
    else:
        yield f"takes data sets where (priority {plan.priority}):"
        conditions = conditions or ["(none by itself: on request only)"]
    yield from (f"  {condition}" for condition in conditions)


def due_lines(system: System, template: Template) -> Iterator[str]:
    """Yield when a template with a trigger runs next, and when it ran last."""
    if template.plan.due is None or template.version == RUN_VERSION:
        return
    try:
        due = system.ask(lambda c: c.operator.template_due(template.name))
    except NotFound:  # it was published again
        return
    yield from _times(due)
    for one in due.sets:
        yield _set(one)
        if one.held is not None:
            yield f"  {one.held}"


def _times(due: TemplateTrigger) -> Iterator[str]:
    if due.next_at is not None:
        yield f"next time: {local_time(due.next_at)}"
    if due.last_at is not None:
        yield f"last time: {local_time(due.last_at)}: {due.outcome}"


def _set(one: TriggerDataset) -> str:
    slices = "no slice yet"
    if one.last_at is not None:
        slices = f"{counted(one.slices, 'slice')}, the last {local_time(one.last_at)}"
    return f"{one.name}: {counted(one.new, 'new file')} of {one.files}; {slices}"
