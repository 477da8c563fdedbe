"""Shows steps over all chains."""

from sluice.contracts.owners import ALL, Sight
from sluice.contracts.steps import StepList
from wms.db.steps import step_list
from wms.usecases.context import WmsContext


async def list_steps(context: WmsContext, sight: Sight = ALL) -> StepList:
    """Precondition: none. Effect: none. Messages: none. Errors: none. Steps that have tasks, or had
    some within a day, and all priorities that are set."""
    async with context.database.connection() as connection:
        return await step_list(connection, sight)
