"""Let a pilot take the jobs of one step first, so that its tool is loaded there."""

from uuid import UUID

import structlog

from sluice.contracts.common.problems import Conflict
from sluice.contracts.jobs.warm_workers import LoadTool
from wms.db.pilots.pilots import get_pilot_loss, set_to_load
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


class PilotTakesNoJobs(Conflict):
    """The pilot takes no more jobs."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(
            f"pilot {uid} no longer takes jobs: it is draining, was lost or has signed off",
            pilot=uid,
        )


async def load_tool(context: WmsContext, pilot: UUID, request: LoadTool) -> None:
    """Give the pilot jobs of the step before all others, whatever their rank.

    Its current jobs are finished first. The order holds until the next one, or until the pilot
    registers again. A repetition changes nothing.

    Raises:
        NotFound: The pilot has not registered.
        PilotTakesNoJobs: The pilot takes no more jobs.
    """
    async with context.database.transaction() as transaction:
        if not await set_to_load(transaction.connection, pilot, request.step):
            # Raises NotFound for an unknown pilot.
            await get_pilot_loss(transaction.connection, pilot)
            raise PilotTakesNoJobs(pilot)
    context.signal.ready()
    log.info("pilot.told_to_load", pilot=str(pilot), step=request.step)
