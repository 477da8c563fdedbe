"""Switches a pilot to the tool of a step, where there is such a step."""

from uuid import UUID

from sluice.contracts.loaded import LoadTool
from wfms.operator.domain.errors import StepUnknown
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.read_steps import read_steps


async def load_tool(context: OperatorContext, pilot: UUID, asked: LoadTool) -> None:
    """Precondition: a published template has a step that is called so, or there are tasks of one.
    Effect: that of the WMS; no step: jobs go to the pilot by their rank again. Messages: none.
    Raises ``StepUnknown``; ``NotFound`` and ``Conflict`` of the WMS; ``NotAvailable``."""
    if asked.step is not None:
        names = {load.step for load in (await read_steps(context, idle_runs=True)).steps}
        if asked.step not in names:
            raise StepUnknown(asked.step, None, sorted(names))
    await context.wms.load_tool(pilot, asked)
