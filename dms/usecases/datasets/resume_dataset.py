"""Resume a halted upload or deletion."""

from uuid import UUID

from dms.db import datasets as sql
from dms.domain.errors import UnknownDataset
from sluice.contracts.data.datasets import Dataset
from sluice.servicekit.database import Database
from sluice.servicekit.running.logging import log_ids


async def resume_dataset(database: Database, uid: UUID) -> Dataset:
    """Resume halted work on a data set at once; do nothing if none is halted.

    Raises:
        UnknownDataset: The data set does not exist.
    """
    with log_ids(dataset=uid):
        async with database.transaction() as transaction:
            await sql.resume_dataset(transaction.connection, uid)
            row = await sql.find_dataset(transaction.connection, uid)
        if row is None:
            raise UnknownDataset(uid)
        return row.dataset
