"""The assignment of a pilot to the tool of a step."""

from uuid import UUID

from sluice.contracts.jobs.warm_workers import LoadTool
from wfms.operator.chains.domain.errors import StepUnknown
from wfms.operator.chains.usecases.steps.list_steps import list_steps
from wfms.operator.context import OperatorContext


async def load_tool(context: OperatorContext, pilot: UUID, request: LoadTool) -> None:
    """Assign a pilot to the tool of a step, or, without a step, let it take jobs by rank again.

    Raises:
        StepUnknown: No published template has the step, and there are no tasks of it.
        NotFound: The WMS does not know the pilot.
        Conflict: The WMS rejects the assignment.
        NotAvailable: The WMS does not answer.
    """
    if request.step is not None:
        names = {load.step for load in (await list_steps(context, idle_runs=True)).steps}
        if request.step not in names:
            raise StepUnknown(request.step, None, sorted(names))
    await context.wms.load_tool(pilot, request)
