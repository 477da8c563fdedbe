"""Acknowledge that a pilot was lost."""

from uuid import UUID

from sluice.contracts.chains.attention import Acknowledge, AlreadyAcknowledged
from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import PilotState
from wms.db.pilots.pilots import get_pilot_loss, set_acknowledged
from wms.usecases.context import WmsContext


class PilotNotLost(Conflict):
    """The pilot is not lost, so there is nothing to acknowledge."""

    def __init__(self, uid: UUID, state: PilotState) -> None:
        super().__init__(
            f"pilot {uid} is not lost, it is {state}: there is nothing to acknowledge",
            pilot=uid,
            state=state,
        )


async def acknowledge_pilot(context: WmsContext, pilot: UUID, request: Acknowledge) -> None:
    """Acknowledge the loss of a pilot, so that it needs no attention until it is lost again.

    A repetition changes nothing.

    Raises:
        NotFound: The pilot has not registered.
        PilotNotLost: The pilot is not lost.
        AlreadyAcknowledged: Somebody else has acknowledged the loss.
    """
    async with context.database.transaction() as transaction:
        if await set_acknowledged(transaction.connection, pilot, by=request.by):
            return
        loss = await get_pilot_loss(transaction.connection, pilot)
    if loss.state is not PilotState.LOST:
        raise PilotNotLost(pilot, loss.state)
    if loss.acknowledged is not None and loss.acknowledged.by != request.by:
        raise AlreadyAcknowledged(f"pilot {pilot}", loss.acknowledged.by, loss.acknowledged.at)
