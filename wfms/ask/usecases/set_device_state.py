"""Let the answers of a browser count, or not."""

from uuid import UUID

from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import DeviceState
from wfms.ask.db.assignments import settle_items
from wfms.ask.db.devices import set_device_state
from wfms.ask.usecases.context import AskContext


async def apply_device_state(
    context: AskContext,
    device: UUID,
    state: DeviceState,
    *,
    reason: str,
    set_by: str | None,
) -> bool:
    """Set the state of a known browser, and recompute the items that it answered.

    All its answers count, or none. Items whose answers are fixed do not change.

    Returns:
        False if the state was the same before.
    """
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        items = await set_device_state(connection, device, state, reason=reason, set_by=set_by)
        if items:
            await settle_items(connection, items)
    return items is not None


async def set_device_state_by_supervisor(
    context: AskContext, device: UUID, state: DeviceState, *, reason: str, by: str
) -> None:
    """Set the state of a browser by hand. It is not changed automatically afterwards.

    Raises:
        Conflict: The state was the same before.
    """
    if not await apply_device_state(context, device, state, reason=reason, set_by=by):
        raise Conflict(f"device {device} is {state} already")
