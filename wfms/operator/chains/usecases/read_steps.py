"""Steps of published templates, and of one-off runs while they have work."""

from sluice.contracts.jobs.steps import RankStep, SetStepPriority, StepList, StepLoad, find_priority
from wfms.operator.chains.domain.errors import StepUnknown
from wfms.operator.context import OperatorContext
from wfms.operator.templates.usecases.read_templates import read_templates


async def read_steps(context: OperatorContext, *, idle_runs: bool = False) -> StepList:
    """Return the steps of published templates, and those of other templates that have tasks.

    Other templates are those of one-off runs and deleted ones.

    Args:
        context: The context of the operator service.
        idle_runs: Also return the steps of one-off runs that had tasks within a day.

    Raises:
        NotAvailable: The WMS does not answer.
    """
    steps_with_tasks = await context.wms.list_steps()
    templates = await read_templates(context.database, disabled=True)
    published = {template.name for template in templates}
    loads_to_list = [
        load
        for load in steps_with_tasks.steps
        if idle_runs or load.tasks or load.template in published
    ]
    listed = {(load.step, load.template) for load in loads_to_list}
    idle = {
        (step.name, template.name)
        for template in templates
        if template.disabled_at is None
        for step in template.plan.steps
    }
    idle_loads = [
        StepLoad(
            step=step,
            template=name,
            priority=find_priority(step, name, steps_with_tasks.priorities),
        )
        for step, name in idle - listed
    ]
    steps = sorted([*loads_to_list, *idle_loads], key=lambda load: (load.step, load.template))
    return steps_with_tasks.model_copy(update={"steps": steps})


async def set_step_priority(context: OperatorContext, step: str, new: SetStepPriority) -> StepList:
    """Set the priority of a step in the WMS.

    Raises:
        StepUnknown: No published template has the step, and it has neither tasks nor a priority.
        NotAvailable: The WMS does not answer.
    """
    step_list = await read_steps(context, idle_runs=True)
    names = {load.step for load in step_list.steps if new.template in {None, load.template}}
    names |= {
        step_priority.step
        for step_priority in step_list.priorities
        if step_priority.template == new.template
    }
    if step not in names:
        raise StepUnknown(step, new.template, sorted(names))
    await context.wms.prioritise_step(RankStep(step=step, **new.model_dump()))
    return await read_steps(context)
