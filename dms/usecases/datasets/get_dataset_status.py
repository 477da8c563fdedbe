"""Get the status of a data set: its progress, and what it waits for."""

from uuid import UUID

from dms.db.datasets import DatasetRow, find_dataset
from dms.db.files import get_used_numbers
from dms.domain.completeness import describe_missing_files
from dms.domain.errors import UnknownDataset
from dms.domain.failures import WORKS, failure_text
from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.datasets import DatasetStatus
from sluice.servicekit.database import Connection, Database

#: Maximum number of gaps in the file numbers that the status names.
MAX_GAPS = 20


async def get_dataset_status(database: Database, uid: UUID) -> DatasetStatus:
    """Return the status of a data set.

    Raises:
        UnknownDataset: The data set does not exist.
    """
    async with database.connection() as connection:
        row = await find_dataset(connection, uid)
        if row is None:
            raise UnknownDataset(uid)
        waits_for = await _describe_wait(connection, row)
    dataset = row.dataset
    return DatasetStatus(
        uid=uid,
        state=dataset.state,
        usable=dataset.usable,
        registered_at=row.registered_at,
        closed_at=dataset.closed_at,
        count_files=dataset.count_files,
        close_at=row.close_at,
        waits_for=waits_for,
    )


async def _describe_wait(connection: Connection, row: DatasetRow) -> str | None:
    dataset = row.dataset
    if row.failure is not None and dataset.state in WORKS:
        return failure_text(dataset.state, row.failure, halted=row.halted)
    if (
        row.close_at is None
        or dataset.state is not DatasetState.OPEN
        or dataset.count_files >= row.close_at
    ):
        return None
    used = await get_used_numbers(connection, dataset.uid, gaps=MAX_GAPS)
    return describe_missing_files(
        dataset.count_files, expected_count=row.close_at, used_numbers=used
    )
