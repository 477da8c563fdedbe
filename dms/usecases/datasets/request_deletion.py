"""Request the deletion of a data set; a loop carries it out."""

from uuid import UUID

from dms.db.datasets import find_dataset, lock_dataset, mark_dataset_deleting
from dms.domain.errors import LastOutputCopy, UnknownDataset
from sluice.contracts.common.labels import label
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import DatasetType
from sluice.contracts.data.asset_refs import MARK
from sluice.contracts.data.assets import AssetInUse
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.messaging.messages import DeleteDataset
from sluice.servicekit.database import Connection, Database, Transaction
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
            if not await _mark(transaction.connection, uid, force=force, withdrawn=withdrawn):
                raise UnknownDataset(uid)
            row = await find_dataset(transaction.connection, uid)
        assert row is not None  # noqa: S101 - found in the same transaction
        return row.dataset


async def apply_deletion(transaction: Transaction, message: DeleteDataset) -> None:
    """Apply ``dms.deletions`` in the transaction of the message; ignore an unknown data set.

    Raises:
        Unprocessable: The data set is an output, append-only or an asset: a last copy is only
            deleted on request (invariant 4).
    """
    with log_ids(dataset=message.uid):
        try:
            await _mark(transaction.connection, message.uid, force=False, withdrawn=False)
        except (LastOutputCopy, AssetInUse) as error:
            raise Unprocessable(error.detail, **error.fields) from error


async def _mark(connection: Connection, uid: UUID, *, force: bool, withdrawn: bool) -> bool:
    """Set a data set to deleting; return False if it does not exist."""
    row = await lock_dataset(connection, uid)
    if row is None:
        return False
    if row.dataset.type is DatasetType.OUTPUT and not force:
        raise LastOutputCopy(uid, label(row.dataset), f"of type {row.dataset.type}")
    if row.dataset.append_only is not None and not force:
        raise LastOutputCopy(uid, row.dataset.name, "append-only and contains outputs of chains")
    if MARK in row.dataset.meta and not withdrawn:
        raise AssetInUse(uid, row.dataset.name, row.dataset.meta[MARK])
    await mark_dataset_deleting(connection, uid)
    return True
