"""Tell a pilot to stop its jobs and end."""

from uuid import UUID

import structlog

from sluice.contracts.common.problems import Conflict
from wms.db.pilots.pilots import get_pilot_loss, set_stopping
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


class PilotSignedOff(Conflict):
    """The pilot has signed off, so there is nothing to stop."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(f"pilot {uid} has signed off: there is nothing to stop", pilot=uid)


async def stop_pilot(context: WmsContext, pilot: UUID) -> None:
    """Tell the pilot to stop its jobs and end, with its next heartbeat.

    It gets no more jobs, and its leases are not renewed. Its jobs are ready again as soon as it
    reports that it has stopped them (invariant 6); this does not count against them. A repetition
    changes nothing.

    Raises:
        NotFound: The pilot has not registered.
        PilotSignedOff: The pilot has signed off.
    """
    async with context.database.transaction() as transaction:
        if not await set_stopping(transaction.connection, pilot):
            # Raises NotFound for an unknown pilot.
            await get_pilot_loss(transaction.connection, pilot)
            raise PilotSignedOff(pilot)
    context.signal.ready()
    log.info("pilot.told_to_stop", pilot=str(pilot))
