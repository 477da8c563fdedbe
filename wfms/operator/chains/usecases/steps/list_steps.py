"""List the steps of published templates, and those of one-off runs while they have work."""

from sluice.contracts.jobs.steps import StepList, StepLoad, find_priority
from wfms.operator.context import OperatorContext
from wfms.operator.templates.usecases.list_templates import list_templates


async def list_steps(context: OperatorContext, *, idle_runs: bool = False) -> StepList:
    """Return the steps of published templates, and those of other templates that have tasks.

    Other templates are those of one-off runs and deleted ones.

    Args:
        context: The context of the operator service.
        idle_runs: Also return the steps of one-off runs that had tasks within a day.

    Raises:
        NotAvailable: The WMS does not answer.
    """
    steps_with_tasks = await context.wms.list_steps()
    templates = await list_templates(context.database, disabled=True)
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
