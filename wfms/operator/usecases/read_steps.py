"""Reads steps of published templates, and those of one-off runs while they have work."""

from sluice.contracts.steps import RankStep, SetStepPriority, StepList, StepLoad, priority_of
from wfms.operator.domain.errors import StepUnknown
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.read_templates import read_templates


async def read_steps(context: OperatorContext, *, idle_runs: bool = False) -> StepList:
    """Return the steps of published templates, and those of other templates (of one-off runs, or
    deleted) that have tasks under way.

    Args:
        context: What the operator service works with.
        idle_runs: Return the steps of one-off runs that had tasks within a day, too.

    Raises:
        NotAvailable: The WMS does not answer.
    """
    found = await context.wms.steps()
    templates = await read_templates(context.database, disabled=True)
    published = {template.name for template in templates}
    kept = [load for load in found.steps if idle_runs or load.tasks or load.template in published]
    known = {(load.step, load.template) for load in kept}
    idle = {
        (step.name, template.name)
        for template in templates
        if template.disabled_at is None
        for step in template.plan.steps
    }
    loads = [
        StepLoad(step=step, template=name, priority=priority_of(step, name, found.priorities))
        for step, name in idle - known
    ]
    steps = sorted([*kept, *loads], key=lambda load: (load.step, load.template))
    return found.model_copy(update={"steps": steps})


async def set_step_priority(context: OperatorContext, step: str, new: SetStepPriority) -> StepList:
    """Precondition: a published template has such a step, or there are tasks of it, or a priority
    is set for it. Effect: that of the WMS. Raises ``StepUnknown``, ``NotAvailable``.
    """
    known = await read_steps(context, idle_runs=True)
    names = {load.step for load in known.steps if new.template in {None, load.template}}
    names |= {found.step for found in known.priorities if found.template == new.template}
    if step not in names:
        raise StepUnknown(step, new.template, sorted(names))
    await context.wms.prioritise_step(RankStep(step=step, **new.model_dump()))
    return await read_steps(context)
