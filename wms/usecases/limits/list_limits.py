"""List the limits on resources that are counted over all nodes."""

from sluice.contracts.jobs.limits import LimitList
from wms.db.limits.limits import list_limit_states
from wms.usecases.context import WmsContext


async def list_limits(context: WmsContext) -> LimitList:
    """Return all limits, as they are now."""
    async with context.database.connection() as connection:
        return LimitList(
            limits=[state.to_contract() for state in await list_limit_states(connection)]
        )
