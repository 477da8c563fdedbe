"""Routes for operators: steps across all chains."""

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.jobs.steps import RankStep, StepList
from sluice.servicekit.access.policy import allow
from sluice.servicekit.access.principal_dependencies import CallerVisibility
from sluice.servicekit.web.http import api_router
from wms.api.dependencies import Context
from wms.usecases.tasks.list_steps import list_steps
from wms.usecases.tasks.prioritise_step import prioritise_step

router = api_router("/api/v1/steps", tags=["steps"])


@router.get("", operation_id="list_steps")
@allow(Role.VIEWER, CallingService.OPERATOR)
async def list_steps_route(context: Context, visibility: CallerVisibility) -> StepList:
    """List the steps that have tasks or had some within a day.

    Each step has the number of waiting jobs, since when the oldest one waits, the number of
    jobs that pilots have, the mean time of its jobs, and its priority.
    """
    return await list_steps(context, visibility)


@router.put("", operation_id="prioritise_step")
@allow(CallingService.OPERATOR)
async def prioritise_step_route(
    context: Context, new: RankStep, visibility: CallerVisibility
) -> StepList:
    """Set the priority of a step across all chains.

    A priority of 0 or more is added to the ranks of the step's tasks. With -1 no job of the
    step is leased, and running jobs finish. Repeating it is fine.
    """
    await prioritise_step(context, new)
    return await list_steps(context, visibility)
