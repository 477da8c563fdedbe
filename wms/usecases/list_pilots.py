"""Shows the pilots."""

from sluice.contracts.pilots import Pilot
from wms.db.pilots import SELECT_PILOTS
from wms.usecases.workload import Workload


async def list_pilots(workload: Workload) -> list[Pilot]:
    """Precondition: none. Effect: none. Messages: none. Those that signed off are shown for a day."""
    async with workload.database.connection() as connection:
        return [Pilot.model_validate(dict(row)) for row in await connection.fetch(SELECT_PILOTS)]
