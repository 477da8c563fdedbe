"""List the steps across all chains."""

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.jobs.steps import StepList
from wms.db.tasks.steps import list_step_loads
from wms.usecases.context import WmsContext


async def list_steps(context: WmsContext, visibility: Visibility = ALL) -> StepList:
    """Return the steps that have tasks or had some within a day, and the priorities of steps."""
    async with context.database.connection() as connection:
        return await list_step_loads(connection, visibility)
