"""Let a pilot finish its jobs and end."""

from uuid import UUID

from wms.db.pilots.pilots import set_draining
from wms.usecases.context import WmsContext


async def drain_pilot(context: WmsContext, pilot: UUID) -> None:
    """Give the pilot no more jobs, and tell it to drain with its next request or heartbeat.

    A repetition changes nothing.

    Raises:
        NotFound: The pilot has not registered.
    """
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        await set_draining(connection, pilot)
    context.signal.ready()
