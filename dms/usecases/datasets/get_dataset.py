"""Get a data set."""

from uuid import UUID

from dms.db.datasets import find_dataset
from dms.domain.errors import UnknownDataset
from sluice.contracts.data.datasets import Dataset
from sluice.servicekit.database import Database


async def get_dataset(
    database: Database, uid: UUID, *, released: bool = False, copied: bool = False
) -> Dataset:
    """Return a data set.

    Args:
        database: The database of the DMS.
        uid: The data set.
        released: Include the number of its files that are released.
        copied: Include whether the user who registered it has the originals.

    Raises:
        UnknownDataset: The data set does not exist.
    """
    async with database.connection() as connection:
        row = await find_dataset(connection, uid)
    if row is None:
        raise UnknownDataset(uid)
    details = {"released": row.released if released else 0, "copied": copied and row.copied}
    return row.dataset.model_copy(update=details)
