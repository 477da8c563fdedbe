"""Quotas on the data of groups and people."""

from dms.domain.errors import QuotaReached
from sluice.contracts.access.quotas import Quantity, QuotaHolder
from sluice.servicekit.database import Connection
from sluice.servicekit.quotas.counted_quantities import CountedQuantities
from sluice.servicekit.statement import statement

#: Counted through the indexes datasets_group and datasets_owner. Slices do not count: their files
#: count in the append-only data set.
DATA = CountedQuantities(
    rows=statement("FROM datasets WHERE state <> '{dataset.DELETED}' AND slice IS NULL"),
    sums={
        Quantity.BYTES: "coalesce(sum(bytes), 0)",
        Quantity.FILES: "coalesce(sum(count_files), 0)",
    },
)


async def require_quota(
    connection: Connection, holders: list[QuotaHolder], *, size: int, files: int
) -> None:
    """Check that the holders may have ``size`` more bytes and ``files`` more files.

    Raises:
        QuotaReached: A quota does not allow it.
    """
    more = {Quantity.BYTES: size, Quantity.FILES: files}
    if (reached := await DATA.reached(connection, holders, more)) is not None:
        raise QuotaReached(reached)
