"""Share a data set with other groups."""

from uuid import UUID

import structlog

from dms.db.datasets import lock_dataset
from dms.db.owners import share
from dms.db.quotas import require_quota
from dms.domain.errors import UnknownDataset
from dms.usecases.datasets.require_no_asset import require_no_asset
from sluice.contracts.access.owners import Share
from sluice.contracts.access.quotas import HolderKind, QuotaHolder
from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.datasets import Dataset
from sluice.servicekit.access.ownership import require_member
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Database
from sluice.text.visible_text import quoted


class DatasetDeleted(Conflict):
    """The data set is being deleted or is deleted."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(
            f"data set {quoted(dataset.name)} is {dataset.state}: there is nothing to share. If a"
            " chain has consumed it, share the chain's outputs",
            dataset=dataset.uid,
        )


log = structlog.get_logger(__name__)


async def share_dataset(
    database: Database, uid: UUID, request: Share, *, by: Person | None
) -> Dataset:
    """Set the groups that see a data set beside its own, and optionally its own group.

    ``by`` must be in the group of the data set; None is a service.

    Raises:
        UnknownDataset: The data set does not exist.
        AssetDatasetReadOnly: It holds a version of an asset, which everybody may read.
        DatasetDeleted: It is being deleted or is deleted.
        Forbidden: The person is not in the new group.
        QuotaReached: The quota of the new group does not allow it.
    """
    if by is not None and request.group is not None:
        require_member(by, request.group)
    async with database.transaction() as transaction:
        connection = transaction.connection
        row = await lock_dataset(connection, uid)
        if row is None:
            raise UnknownDataset(uid)
        now, group = row.dataset, request.group
        require_no_asset(now)
        if now.state in {DatasetState.DELETING, DatasetState.DELETED}:
            raise DatasetDeleted(now)
        if by is not None and group not in {None, now.group}:
            holders = [QuotaHolder(HolderKind.GROUP, str(group))]
            await require_quota(connection, holders, size=now.bytes, files=now.count_files)
        shared = await share(connection, uid, request.shared_with, group=group)
    log.info(
        "dataset.shared", dataset=str(uid), group=shared.group, shared_with=shared.shared_with,
        by=str(by),
    )  # fmt: skip
    return shared
