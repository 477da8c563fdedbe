"""How much data groups and people have."""

from dms.domain.errors import QuotaReached
from sluice.contracts.quotas import Quantity, QuotaHolder
from sluice.contracts.states import DatasetState
from sluice.servicekit.database import Connection
from sluice.servicekit.quotas.counted import Counted

#: By the indexes datasets_group and datasets_owner. What is in a slice is in the data set that it
#: is cut from.
DATA = Counted(
    rows=f"FROM datasets WHERE state <> '{DatasetState.DELETED}' AND slice IS NULL",
    sums={
        Quantity.BYTES: "coalesce(sum(bytes), 0)",
        Quantity.FILES: "coalesce(sum(count_files), 0)",
    },
)


async def require_quota(
    connection: Connection, holders: list[QuotaHolder], *, size: int, files: int
) -> None:
    """``size``: bytes. Raises ``QuotaReached`` where so much more of people is too much."""
    more = {Quantity.BYTES: size, Quantity.FILES: files}
    if (reached := await DATA.reached(connection, holders, more)) is not None:
        raise QuotaReached(reached)
