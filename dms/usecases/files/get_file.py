"""Get a file of a data set."""

from uuid import UUID

from dms.db.datasets import find_dataset
from dms.db.files import find_file
from dms.db.storages import list_roots
from dms.domain.errors import FileDeleted, UnknownDataset, UnknownFile
from dms.usecases.files.listed_file import build_file
from sluice.contracts.data.datasets import File
from sluice.servicekit.database import Database


async def get_file(database: Database, uid: UUID, file_id: int) -> File:
    """Return a file of a data set.

    Raises:
        UnknownDataset: The data set does not exist.
        UnknownFile: The data set does not have the file.
        FileDeleted: The file is released.
    """
    async with database.connection() as connection:
        if await find_dataset(connection, uid) is None:
            raise UnknownDataset(uid)
        row = await find_file(connection, uid, file_id)
        roots = await list_roots(connection)
    if row is None:
        raise UnknownFile(uid, file_id)
    if row.released:
        raise FileDeleted(uid, row.name)
    return build_file(uid, row, roots)
