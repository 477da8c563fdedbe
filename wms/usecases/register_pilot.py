"""A pilot introduces itself."""

from sluice.contracts.pilots import RegisterPilot, Registration
from wms.db.pilots import mark_lost_before, store_pilot
from wms.usecases.context import WmsContext


async def register_pilot(context: WmsContext, pilot: RegisterPilot) -> Registration:
    """Precondition: none. Effect: the pilot is known and active; repeated, it is the same pilot
    with its present resources. Lost ones of its name on its host need nobody any more. Messages:
    none. Errors: none."""
    async with context.database.transaction() as transaction:
        await store_pilot(transaction.connection, pilot)
        await mark_lost_before(transaction.connection, name=pilot.name, host=pilot.host)
    return Registration(heartbeat=context.terms.heartbeat, lease=context.terms.lease)
