"""Set the priority of a step in the WMS."""

from sluice.contracts.jobs.steps import RankStep, SetStepPriority, StepList
from wfms.operator.chains.domain.errors import StepUnknown
from wfms.operator.chains.usecases.steps.list_steps import list_steps
from wfms.operator.context import OperatorContext


async def set_step_priority(context: OperatorContext, step: str, new: SetStepPriority) -> StepList:
    """Set the priority of a step in the WMS.

    Raises:
        StepUnknown: No published template has the step, and it has neither tasks nor a priority.
        NotAvailable: The WMS does not answer.
    """
    step_list = await list_steps(context, idle_runs=True)
    names = {load.step for load in step_list.steps if new.template in {None, load.template}}
    names |= {
        step_priority.step
        for step_priority in step_list.priorities
        if step_priority.template == new.template
    }
    if step not in names:
        raise StepUnknown(step, new.template, sorted(names))
    await context.wms.prioritise_step(RankStep(step=step, **new.model_dump()))
    return await list_steps(context)
