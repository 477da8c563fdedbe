"""Return why the handover of a data set waits."""

from uuid import UUID

from sluice.contracts.chains.intake import WaitingHandover
from sluice.servicekit.database import Database
from wfms.intake.db import intake


async def get_waiting_handover(database: Database, dataset: UUID) -> WaitingHandover:
    """Return why the handover of a data set waits."""
    async with database.connection() as connection:
        return WaitingHandover(reason=await intake.find_handover_reason(connection, dataset))
