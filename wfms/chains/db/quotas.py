"""The quotas of chains that groups and people may have at the same time."""

from sluice.contracts.access.quotas import Quantity, ReachedQuota, quota_holders
from sluice.contracts.common.problems import Conflict, NotAvailable
from sluice.servicekit.access.ownership import Ownership
from sluice.servicekit.database import Connection
from sluice.servicekit.quotas.counted_quantities import CountedQuantities
from sluice.servicekit.statement import statement

CHAINS = CountedQuantities(
    rows=statement("FROM chains WHERE state IN ('{chain.IN_PROGRESS}', '{chain.UPLOADING}')"),
    sums={Quantity.CHAINS: "count(*)"},
)


class TooManyChains(Conflict):
    """The quota does not allow the chain that a person asked for."""

    def __init__(self, reached_quota: ReachedQuota) -> None:
        super().__init__(
            f"{reached_quota}: wait for the end of one, or cancel it",
            holder=str(reached_quota.holder),
            quantity=reached_quota.quantity,
        )


class TooManyTriggeredChains(NotAvailable):
    """The quota does not allow a chain that starts automatically, so it waits."""

    def __init__(self, reached_quota: ReachedQuota) -> None:
        super().__init__(
            f"{reached_quota}: it begins when one has ended",
            holder=str(reached_quota.holder),
            quantity=reached_quota.quantity,
        )


async def require_quota(connection: Connection, ownership: Ownership, *, by_person: bool) -> None:
    """Require that the quotas allow one more chain.

    Raises:
        TooManyChains: They do not, and a person asked.
        TooManyTriggeredChains: They do not, and the chain starts automatically.
    """
    holders = quota_holders(group=ownership.group, owner=ownership.owner)
    reached = await CHAINS.reached(connection, holders, {Quantity.CHAINS: 1})
    if reached is not None:
        raise TooManyChains(reached) if by_person else TooManyTriggeredChains(reached)
