"""List the pilots."""

from sluice.contracts.pilots.pilot_list import PilotList
from wms.db.pilots.pilot_pages import PilotQuery, pilot_page
from wms.db.pilots.worker_times import Worker
from wms.usecases.context import WmsContext
from wms.usecases.leasing.trust_workers import look_for_failing, steps_of


async def list_pilots(context: WmsContext, query: PilotQuery | None = None) -> PilotList:
    """Return a page of pilots.

    Present pilots come first, then lost ones that nobody has acknowledged and that did not start
    again. Other pilots are listed for a day. The latest comes first within each kind.

    Raises:
        WrongCursor: The query's ``after`` is not a cursor of this list.
    """
    query = query or PilotQuery()
    async with context.database.connection() as connection:
        found = await pilot_page(connection, query)
        distrust = await context.distrust.get(None, lambda: look_for_failing(connection))
    if not distrust:
        return found
    pilots = [
        pilot.model_copy(update={"distrusted": steps_of(distrust, Worker(pilot.name, pilot.host))})
        for pilot in found.pilots
    ]
    return found.model_copy(update={"pilots": pilots})
