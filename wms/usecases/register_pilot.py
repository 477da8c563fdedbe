"""A pilot introduces itself."""

from sluice.contracts.pilots import RegisterPilot, Registration
from wms.db.pilots import UPSERT_PILOT
from wms.usecases.workload import Workload


async def register_pilot(workload: Workload, pilot: RegisterPilot) -> Registration:
    """Precondition: none. Effect: the pilot is known and active; repeated, it is the same pilot with its present resources.
    Messages: none. Errors: none."""
    resources = pilot.resources.model_dump(mode="json")
    values = (pilot.uid, pilot.name, pilot.host, pilot.slots, resources, pilot.version, list(pilot.engines))
    async with workload.database.connection() as connection:
        await connection.execute(UPSERT_PILOT, *values)
    return Registration(heartbeat=workload.terms.heartbeat, lease=workload.terms.lease)
