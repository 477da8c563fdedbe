"""How many chains groups and people have at a time."""

from sluice.contracts.problems import Conflict, NotAvailable
from sluice.contracts.quotas import Quantity, Reached, holders_of
from sluice.contracts.states import ChainState
from sluice.servicekit.access.ownership import Ownership
from sluice.servicekit.database import Connection
from sluice.servicekit.quotas.counted import Counted

CHAINS = Counted(
    rows=f"FROM chains WHERE state IN ('{ChainState.IN_PROGRESS}', '{ChainState.UPLOADING}')",
    sums={Quantity.CHAINS: "count(*)"},
)


class TooManyChains(Conflict):
    """A person asks for one more."""

    def __init__(self, reached: Reached) -> None:
        super().__init__(
            f"{reached}: wait for the end of one, or cancel it",
            holder=str(reached.holder),
            quantity=reached.quantity,
        )


class TooManyChainsNow(NotAvailable):
    """One that begins by itself: it waits."""

    def __init__(self, reached: Reached) -> None:
        super().__init__(
            f"{reached}: it begins when one has ended",
            holder=str(reached.holder),
            quantity=reached.quantity,
        )


async def require_quota(connection: Connection, whose: Ownership, *, by_person: bool) -> None:
    """Raises ``TooManyChains``, ``TooManyChainsNow``."""
    holders = holders_of(group=whose.group, owner=whose.owner)
    reached = await CHAINS.reached(connection, holders, {Quantity.CHAINS: 1})
    if reached is not None:
        raise TooManyChains(reached) if by_person else TooManyChainsNow(reached)
