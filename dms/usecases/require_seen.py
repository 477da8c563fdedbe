"""Who sees a data set, and what lies in its folder."""

from collections.abc import Sequence
from uuid import UUID

from dms.db.owners import foreign_file, foreign_folder, holds_foreign_folder, owned_by
from dms.domain.errors import UnknownDataset
from sluice.contracts.owners import Sight
from sluice.contracts.problems import Forbidden
from sluice.servicekit.database import Connection, Database
from sluice.visible_text import quoted


async def require_seen(database: Database, uid: UUID, sight: Sight, *, changes: bool) -> None:
    """``changes``: it is to be changed. Raises ``UnknownDataset`` for one that is not seen, as for
    one that is not there; ``Forbidden`` for one that is shared for reading.
    """
    async with database.connection() as connection:
        owned = await owned_by(connection, uid)
    if owned is None or not sight.sees(owned.group, owned.shared_with):
        raise UnknownDataset(uid)
    if changes and not sight.is_member(owned.group):
        raise Forbidden(
            f"data set {quoted(owned.name)} is the group {owned.group}'s, which shares it for"
            " reading",
            dataset=uid,
        )


async def require_folders_seen(connection: Connection, urls: Sequence[str], sight: Sight) -> None:
    """Each URL, and what it lies in. Raises ``Forbidden``."""
    if (found := await _foreign(connection, urls, sight)) is not None:
        raise Forbidden(f"{_inside(urls, found)} is in a folder that is another group's")


async def require_free_folder(connection: Connection, url: str, sight: Sight) -> None:
    """That nothing of others lies below: whoever has a folder has what is in it. Raises
    ``Forbidden``.
    """
    if sight.groups is not None and await holds_foreign_folder(connection, url, sight):
        raise Forbidden(f"in {url} there is a folder that is another group's: give one below it")


async def folders_seen(connection: Connection, urls: Sequence[str], sight: Sight) -> bool:
    return await _foreign(connection, urls, sight) is None


async def _foreign(connection: Connection, urls: Sequence[str], sight: Sight) -> str | None:
    if sight.groups is None:
        return None
    folders = {folder for url in urls for folder in _with_parents(url)}
    return await foreign_folder(connection, sorted(folders), sight)


async def require_files_seen(
    connection: Connection, places: Sequence[tuple[UUID, str]], sight: Sight
) -> None:
    """``places``: storage, and path on it. Raises ``Forbidden``."""
    if sight.groups is None:
        return
    found = await foreign_file(connection, places, sight)
    if found is not None:
        raise Forbidden(f"the file {found} is another group's")


def _with_parents(url: str) -> list[str]:
    """Below the scheme: ``file:///a/b`` is in ``file:///a``."""
    scheme, separator, rest = url.partition("://")
    parts = rest.split("/")
    return [f"{scheme}{separator}{'/'.join(parts[:end])}" for end in range(1, len(parts) + 1)]


def _inside(urls: Sequence[str], folder: str) -> str:
    return next((url for url in urls if url == folder or url.startswith(f"{folder}/")), folder)
