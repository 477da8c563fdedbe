"""Has a pilot take the jobs of one step first, so that its tool is loaded there."""

from uuid import UUID

import structlog

from sluice.contracts.loaded import LoadTool
from sluice.contracts.problems import Conflict
from wms.db.pilots import pilot_loss, set_to_load
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


class TakesNothing(Conflict):
    def __init__(self, uid: UUID) -> None:
        super().__init__(
            f"pilot {uid} takes no jobs any more: it drains, was lost or has signed off", pilot=uid
        )


async def load_tool(context: WmsContext, pilot: UUID, asked: LoadTool) -> None:
    """Precondition: the pilot has registered, and takes jobs. Effect: what it has is finished;
    from then on jobs of the step go to it before all others, whatever their rank, as far as there
    are some that fit it; until something else is said, or it registers anew. Repeating it is fine.
    Messages: none. Raises ``NotFound``, ``TakesNothing``."""
    async with context.database.transaction() as transaction:
        if not await set_to_load(transaction.connection, pilot, asked.step):
            await pilot_loss(transaction.connection, pilot)  # is it known?
            raise TakesNothing(pilot)
    context.signal.ready()
    log.info("pilot.told_to_load", pilot=str(pilot), step=asked.step)
