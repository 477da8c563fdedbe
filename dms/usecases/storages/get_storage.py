"""Get a storage by its name."""

from dms.db.storages import find_storage
from dms.domain.storage_errors import UnknownStorage
from sluice.contracts.data.datasets import Storage
from sluice.servicekit.database import Connection


async def get_storage(connection: Connection, name: str) -> Storage:
    """Return a storage.

    Raises:
        UnknownStorage: The storage does not exist.
    """
    storage = await find_storage(connection, name)
    if storage is None:
        raise UnknownStorage(name)
    return storage
