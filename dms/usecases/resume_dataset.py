"""Setting an upload or a deletion going again that waits for a person."""

from uuid import UUID

from dms.db.datasets import dataset_by_uid, set_going
from dms.domain.errors import UnknownDataset
from sluice.contracts.datasets import Dataset
from sluice.servicekit.database import Database
from sluice.servicekit.logging import log_ids


async def resume_dataset(database: Database, uid: UUID) -> Dataset:
    """Effect: what was halted is tried again at once; nothing where nothing was. Messages: none.

    Raises ``UnknownDataset``.
    """
    with log_ids(dataset=uid):
        async with database.transaction() as transaction:
            await set_going(transaction.connection, uid)
            row = await dataset_by_uid(transaction.connection, uid)
        if row is None:
            raise UnknownDataset(uid)
        return row.dataset
