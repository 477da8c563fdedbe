"""List the pilots."""

from sluice.contracts.pilots.pilot_list import PilotList
from wms.db.pilots.pilot_pages import PilotQuery, read_pilot_page
from wms.db.pilots.worker_times import Worker
from wms.usecases.context import WmsContext
from wms.usecases.leasing.quarantine_workers import find_failing_workers, list_quarantined_steps


async def list_pilots(context: WmsContext, query: PilotQuery | None = None) -> PilotList:
    """Return a page of pilots.

    Present pilots come first, then lost ones that nobody has acknowledged and that did not start
    again. Other pilots are listed for a day. The latest comes first within each kind.

    Raises:
        WrongCursor: The query's ``after`` is not a cursor of this list.
    """
    query = query or PilotQuery()
    async with context.database.connection() as connection:
        page = await read_pilot_page(connection, query)
        worker_trouble = await context.worker_trouble.get(
            None, lambda: find_failing_workers(connection)
        )
    if not worker_trouble:
        return page
    pilots = [
        pilot.model_copy(
            update={
                "quarantined_steps": list_quarantined_steps(
                    worker_trouble, Worker(pilot.name, pilot.host)
                )
            }
        )
        for pilot in page.pilots
    ]
    return page.model_copy(update={"pilots": pilots})
