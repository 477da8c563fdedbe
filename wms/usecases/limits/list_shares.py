"""List the fair shares of groups."""

from sluice.contracts.access.groups import GroupShares
from sluice.contracts.access.owners import ALL, Visibility
from wms.db.tasks.shares import list_group_shares
from wms.usecases.context import WmsContext


async def list_shares(context: WmsContext, visibility: Visibility = ALL) -> GroupShares:
    """Return the visible groups that have a weight or work."""
    async with context.database.connection() as connection:
        return GroupShares(shares=await list_group_shares(connection, visibility))
