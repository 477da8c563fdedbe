"""A pilot introduces itself."""

from uuid import UUID

from sluice.contracts.pilots import RegisterPilot, Registration
from sluice.contracts.problems import Forbidden
from wms.db.pilots import mark_lost_before, store_pilot
from wms.usecases.context import WmsContext


class AnothersPilot(Forbidden):
    def __init__(self, uid: UUID) -> None:
        super().__init__(
            f"the pilot {uid} has registered with a key, and whoever asks has not shown that he has"
            " it: another pilot takes another uid",
            uid=uid,
        )


async def register_pilot(
    context: WmsContext, pilot: RegisterPilot, *, key: str | None = None
) -> Registration:
    """``key``: that the pilot has, by its thumbprint; None: it has shown none. Precondition: none.
    Effect: the pilot is known and active; repeated, it is the same pilot with its present
    resources. Lost ones of its name on its host need nobody any more. Messages: none. Raises
    ``AnothersPilot``."""
    async with context.database.transaction() as transaction:
        if not await store_pilot(transaction.connection, pilot, key=key):
            raise AnothersPilot(pilot.uid)
        await mark_lost_before(transaction.connection, name=pilot.name, host=pilot.host)
    return Registration(heartbeat=context.terms.heartbeat, lease=context.terms.lease)
