"""Shows the pilots."""

from sluice.contracts.pilot_list import PilotList
from wms.db.pilot_pages import PilotQuery, pilot_page
from wms.usecases.context import WmsContext


async def list_pilots(context: WmsContext, query: PilotQuery | None = None) -> PilotList:
    """Precondition: none. Effect: none. Messages: none. Those that are there come first, then lost
    ones that nobody has acknowledged and that did not start again; the others are shown for a day.
    Of each kind the latest first. Raises ``ForeignCursor``."""
    async with context.database.connection() as connection:
        return await pilot_page(connection, query or PilotQuery())
