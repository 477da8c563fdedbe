"""List the pilots."""

from sluice.contracts.pilots.pilot_list import PilotList
from wms.db.pilots.pilot_pages import PilotQuery, list_pilot_page
from wms.db.pilots.pilot_times import PilotIdentity
from wms.usecases.context import WmsContext
from wms.usecases.leasing.pilot_limits import list_pilot_limits, list_quarantined_steps


async def list_pilots(context: WmsContext, query: PilotQuery | None = None) -> PilotList:
    """Return a page of pilots.

    Present pilots come first, then lost ones that nobody has acknowledged and that did not start
    again. Other pilots are listed for a day. The latest comes first within each kind.

    Raises:
        InvalidCursor: The query's ``after`` is not a cursor of this list.
    """
    query = query or PilotQuery()
    async with context.database.connection() as connection:
        page = await list_pilot_page(connection, query)
        pilot_limits = await context.pilot_limits.get(None, lambda: list_pilot_limits(connection))
    if not pilot_limits:
        return page
    pilots = [
        pilot.model_copy(
            update={
                "quarantined_steps": list_quarantined_steps(
                    pilot_limits, PilotIdentity(pilot.name, pilot.host)
                )
            }
        )
        for pilot in page.pilots
    ]
    return page.model_copy(update={"pilots": pilots})
