"""Shows the pilots."""

from sluice.contracts.pilot_list import PilotList
from wms.db.pilot_pages import PilotQuery, pilot_page
from wms.db.worker_times import Worker
from wms.usecases.context import WmsContext
from wms.usecases.trust_workers import look_for_failing, steps_of


async def list_pilots(context: WmsContext, query: PilotQuery | None = None) -> PilotList:
    """Precondition: none. Effect: none. Messages: none. Those that are there come first, then lost
    ones that nobody has acknowledged and that did not start again; the others are shown for a day.
    Of each kind the latest first. Raises ``WrongCursor``."""
    query = query or PilotQuery()
    async with context.database.connection() as connection:
        found = await pilot_page(connection, query)
        if query.limit is None:  # from who would not understand it
            return found
        distrust = await context.distrust.get(None, lambda: look_for_failing(connection))
    if not distrust:
        return found
    pilots = [
        pilot.model_copy(update={"distrusted": steps_of(distrust, Worker(pilot.name, pilot.host))})
        for pilot in found.pilots
    ]
    return found.model_copy(update={"pilots": pilots})
