"""The transition of a data set to deleting."""

from uuid import UUID

from dms.db.datasets import lock_dataset, mark_dataset_deleting
from dms.domain.errors import LastOutputCopy
from sluice.contracts.common.labels import label
from sluice.contracts.common.states import DatasetType
from sluice.contracts.data.asset_refs import MARK
from sluice.contracts.data.assets import AssetInUse
from sluice.servicekit.database import Connection


async def mark_deletion(connection: Connection, uid: UUID, *, force: bool, withdrawn: bool) -> bool:
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
