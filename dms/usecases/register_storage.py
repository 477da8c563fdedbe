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
        raise Unprocessable(
            f"storage {new.name!r}: {new.url} is no plain folder below the root: give one for Sluice", url=new.url
        )
    async with database.connection() as connection:
        uid = uuid4()
        made = await insert_storage(connection, uid, new)
        if made:
            return Storage(id=uid, enabled=True, used=0, **new.model_dump()), True
        first = await storage_like(connection, new)
    assert first is not None  # noqa: S101 - name or URL was taken a moment ago, and storages are never forgotten
    what = f"storage {first.name!r} at {first.url}"
    require_same_request(what, first.model_dump(exclude={"id", "enabled", "used"}), new.model_dump(), storage=first.id)
    return first, False
