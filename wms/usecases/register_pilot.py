"""A pilot introduces itself."""

from sluice.contracts.pilots import RegisterPilot, Registration
from wms.db.pilots import MARK_BEFORE_IT, UPSERT_PILOT
from wms.usecases.context import WmsContext


async def register_pilot(context: WmsContext, pilot: RegisterPilot) -> Registration:
    """Precondition: none. Effect: the pilot is known and active; repeated, it is the same pilot
    with its present resources. Lost ones of its name on its host need nobody any more. Messages:
    none. Errors: none."""
    resources = pilot.resources.model_dump(mode="json")
    values = (
        pilot.uid,
        pilot.name,
        pilot.host,
        pilot.slots,
        resources,
        pilot.version,
        list(pilot.engines),
    )
    async with context.database.transaction() as transaction:
        await transaction.connection.execute(UPSERT_PILOT, *values)
        await transaction.connection.execute(MARK_BEFORE_IT, pilot.name, pilot.host)
    return Registration(heartbeat=context.terms.heartbeat, lease=context.terms.lease)
