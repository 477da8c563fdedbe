"""Asks a pilot to stop what it does and end."""

from uuid import UUID

import structlog

from sluice.contracts.problems import Conflict
from wms.db.pilots import pilot_loss, set_stopping
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


class HasEnded(Conflict):
    def __init__(self, uid: UUID) -> None:
        super().__init__(f"pilot {uid} has signed off: there is nothing to stop", pilot=uid)


async def stop_pilot(context: WmsContext, pilot: UUID) -> None:
    """Precondition: the pilot has registered, and has not signed off. Effect: it gets no more jobs;
    with its next heartbeat no lease of it is renewed any more, and it is told to stop what it has,
    which is ready again as soon as it says that it has stopped it (invariant 6), and nothing counts
    against that. Then it ends. Repeating it is fine. Messages: none. Raises ``NotFound``,
    ``HasEnded``.
    """
    async with context.database.transaction() as transaction:
        if not await set_stopping(transaction.connection, pilot):
            await pilot_loss(transaction.connection, pilot)  # is it known?
            raise HasEnded(pilot)
    context.signal.ready()
    log.info("pilot.told_to_stop", pilot=str(pilot))
