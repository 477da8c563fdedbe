"""The transition of data sets to closed."""

from uuid import UUID

from dms.db.datasets import begin_uploads, mark_closed
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.messaging.messages import DATASET_CLOSED, DatasetClosed
from sluice.servicekit.database import Transaction


async def close_locked_datasets(transaction: Transaction, uids: list[UUID]) -> list[Dataset]:
    """Close data sets under the closing lock, begin their uploads, and send their events."""
    closed = await mark_closed(transaction.connection, uids)
    await begin_uploads(transaction.connection, [dataset.uid for dataset in closed])
    for dataset in closed:
        event = DatasetClosed(uid=dataset.uid, type=dataset.type, state=dataset.state)
        transaction.send(DATASET_CLOSED, event, subject=dataset.uid, dataset=dataset.uid)
    return closed
