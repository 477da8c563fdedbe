"""List the data sets whose first file is on a storage."""

from collections.abc import Sequence
from uuid import UUID

from dms.db.storages import find_storage
from dms.db.watermarks import list_datasets_on_storage
from dms.domain.storage_errors import UnknownStorage
from sluice.servicekit.database import Database


async def list_stored_datasets(database: Database, name: str, uids: Sequence[UUID]) -> list[UUID]:
    """Return those of the data sets whose first file is on the storage.

    Raises:
        UnknownStorage: The storage does not exist.
    """
    async with database.connection() as connection:
        storage = await find_storage(connection, name)
        if storage is None:
            raise UnknownStorage(name)
        return await list_datasets_on_storage(connection, storage.id, uids)
