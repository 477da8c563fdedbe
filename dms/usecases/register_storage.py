"""Registering a storage."""

from uuid import uuid4

from dms.db.storages import insert_storage, storage_like
from dms.domain.differences import require_same_request
from dms.domain.places import stays_inside
from sluice.contracts.datasets import NewStorage, Storage
from sluice.contracts.problems import Unprocessable
from sluice.servicekit.database import Database


async def register_storage(database: Database, new: NewStorage) -> tuple[Storage, bool]:
    """Effect: an enabled storage; of a name that is known, the first (then False).

    Raises ``Conflict`` where the name or the URL is registered differently; ``Unprocessable`` for a whole file system or a URL
    that is no plain path.
    """
    _, separator, path = new.url.partition("://")
    if not separator or not stays_inside(path.removeprefix("/")):
        raise Unprocessable(f"storage {new.name!r}: {new.url} is no plain folder below the root: give one for Sluice", url=new.url)
    async with database.connection() as connection:
        uid = uuid4()
        made = await insert_storage(connection, uid, new)
        if made:
            return Storage(id=uid, enabled=True, used=0, **new.model_dump()), True
        found = await storage_like(connection, new)
        assert found is not None  # noqa: S101 - name or URL was taken a moment ago, and storages are never forgotten
        uid, first = found
        require_same_request(f"storage {first.name!r} at {first.url}", first.model_dump(), new.model_dump(), storage=uid)
        return await _read(connection, uid), False
