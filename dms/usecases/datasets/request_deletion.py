"""Request the deletion of a data set; a loop carries it out."""

from uuid import UUID

from dms.db.datasets import find_dataset
from dms.domain.errors import UnknownDataset
from dms.usecases.datasets.deletion_mark import mark_deletion
from sluice.contracts.data.datasets import Dataset
from sluice.servicekit.database import Database
from sluice.servicekit.running.logging import log_ids


async def request_deletion(
    database: Database, uid: UUID, *, force: bool, withdrawn: bool = False
) -> Dataset:
    """Set a data set to deleting, unless it is deleted; resume a halted deletion.

    Args:
        database: The database of the DMS.
        uid: The data set.
        force: Also delete an output or an append-only data set.
        withdrawn: Chains no longer get the data set as an asset.

    Raises:
        UnknownDataset: The data set does not exist.
        LastOutputCopy: It is an output or append-only, and ``force`` is not set.
        AssetInUse: It is a version of an asset, and ``withdrawn`` is not set.
    """
    with log_ids(dataset=uid):
        async with database.transaction() as transaction:
            if not await mark_deletion(
                transaction.connection, uid, force=force, withdrawn=withdrawn
            ):
                raise UnknownDataset(uid)
            row = await find_dataset(transaction.connection, uid)
        assert row is not None  # noqa: S101 - found in the same transaction
        return row.dataset
