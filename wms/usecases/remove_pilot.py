"""Takes a pilot that has gone off the lists."""

from uuid import UUID

from sluice.contracts.problems import Conflict
from sluice.contracts.states import PilotState
from wms.db.pilots import pilot_loss, set_removed
from wms.usecases.context import WmsContext


class StillThere(Conflict):
    def __init__(self, uid: UUID, state: PilotState) -> None:
        super().__init__(
            f"pilot {uid} is {state}, so it stays on the lists: stop it first (sluice pilot stop"
            f" {uid}); one that does not answer can be removed once it counts as lost",
            pilot=uid,
            state=state,
        )


async def remove_pilot(context: WmsContext, pilot: UUID) -> None:
    """Precondition: the pilot has signed off, or is lost. Effect: no list has it, and it needs
    nobody's attention, until it comes back; what it did stays known. Repeating it is fine.
    Messages: none. Raises ``NotFound``, ``StillThere``."""
    async with context.database.transaction() as transaction:
        if await set_removed(transaction.connection, pilot):
            return
        raise StillThere(pilot, (await pilot_loss(transaction.connection, pilot)).state)
