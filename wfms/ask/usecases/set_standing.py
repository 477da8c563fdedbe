"""Has the answers of a browser count, or not."""

from uuid import UUID

from sluice.contracts.problems import Conflict
from sluice.contracts.states import DeviceStanding
from wfms.ask.db.devices import set_standing
from wfms.ask.db.lending import settle
from wfms.ask.usecases.context import AskContext


async def apply_standing(
    context: AskContext,
    device: UUID,
    standing: DeviceStanding,
    *,
    reason: str,
    set_by: str | None,
) -> bool:
    """Precondition: the browser is known. Effect: all its answers count, or none; items whose
    answers stand already are as they were, all others say what the rest agrees on. False: it was so
    before. Messages: none.
    """
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        items = await set_standing(connection, device, standing, reason=reason, set_by=set_by)
        if items:
            await settle(connection, items)
    return items is not None


async def set_standing_by_hand(
    context: AskContext, device: UUID, standing: DeviceStanding, *, reason: str, by: str
) -> None:
    """As ``apply_standing``; nothing changes it by itself from then on. Raises ``Conflict`` where
    it was so before.
    """
    if not await apply_standing(context, device, standing, reason=reason, set_by=by):
        raise Conflict(f"device {device} is {standing} already")
