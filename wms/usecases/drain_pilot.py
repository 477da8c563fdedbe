"""Asks a pilot to finish what it has and end."""

from uuid import UUID

from wms.db.pilots import set_draining
from wms.usecases.context import WmsContext


async def drain_pilot(context: WmsContext, pilot: UUID) -> None:
    """Precondition: the pilot has registered. Effect: it gets no more jobs and is told to drain
    with its next heartbeat or request for jobs; repeating it is fine. Messages: none. Raises
    ``NotFound``."""
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        await set_draining(connection, pilot)
    context.signal.ready()
