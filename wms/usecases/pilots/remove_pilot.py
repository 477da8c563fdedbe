"""Remove a pilot that has gone from the lists."""

from uuid import UUID

from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import PilotState
from wms.db.pilots.pilots import get_pilot_loss, set_removed
from wms.usecases.context import WmsContext


class PilotPresent(Conflict):
    """The pilot is present, so it stays on the lists."""

    def __init__(self, uid: UUID, state: PilotState) -> None:
        super().__init__(
            f"pilot {uid} is {state}, so it stays on the lists: stop it first (sluice pilot stop"
            f" {uid}); one that does not answer can be removed once it counts as lost",
            pilot=uid,
            state=state,
        )


async def remove_pilot(context: WmsContext, pilot: UUID) -> None:
    """Remove a pilot that has signed off or is lost from all lists until it comes back.

    Its past attempts stay known. A repetition changes nothing.

    Raises:
        NotFound: The pilot has not registered.
        PilotPresent: The pilot is present.
    """
    async with context.database.transaction() as transaction:
        if await set_removed(transaction.connection, pilot):
            return
        raise PilotPresent(pilot, (await get_pilot_loss(transaction.connection, pilot)).state)
