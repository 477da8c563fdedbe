"""Release the lease of a client."""

from uuid import UUID

from sluice.contracts.common.problems import NotFound
from sluice.servicekit.access.principal import Person
from wfms.operator.chains.db import client_leases
from wfms.operator.context import OperatorContext


class LeaseUnknown(NotFound):
    """The person has no such lease."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(f"there is no client lease {uid}: it was released, or has expired")


async def release_client_lease(context: OperatorContext, uid: UUID, *, by: Person) -> None:
    """Delete a lease and keep what it owned.

    Raises:
        LeaseUnknown: There is no such lease, or it has expired.
    """
    async with context.database.connection() as connection:
        if not await client_leases.release_lease(connection, uid, by.name):
            raise LeaseUnknown(uid)
