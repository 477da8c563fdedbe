"""Get one pilot."""

from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.pilots.pilot_detail import PilotDetail
from wms.db.pilots.pilot_detail import get_pilot_detail
from wms.usecases.context import WmsContext


async def get_pilot(context: WmsContext, uid: UUID, visibility: Visibility = ALL) -> PilotDetail:
    """Return a pilot with its jobs and attempts.

    Raises:
        NotFound: The pilot has not registered.
    """
    async with context.database.connection() as connection:
        return await get_pilot_detail(connection, uid, visibility)
