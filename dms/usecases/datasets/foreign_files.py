"""Checks of folders and files that belong to data sets of other groups."""

from collections.abc import Sequence
from uuid import UUID

from dms.db.owners import contains_foreign_folder, find_foreign_file, find_foreign_folder
from sluice.contracts.access.owners import Visibility
from sluice.contracts.common.problems import Forbidden
from sluice.servicekit.database import Connection


async def require_folders_present(
    connection: Connection, urls: Sequence[str], visibility: Visibility
) -> None:
    """Check that no URL is, or is in, the folder of a data set that is not visible.

    Raises:
        Forbidden: One is.
    """
    if (folder := await _foreign(connection, urls, visibility)) is not None:
        raise Forbidden(f"{_url_inside(urls, folder)} is in a folder that belongs to another group")


async def require_free_folder(connection: Connection, url: str, visibility: Visibility) -> None:
    """Check that no folder of a data set that is not visible is below ``url``.

    Raises:
        Forbidden: One does.
    """
    if visibility.groups is not None and await contains_foreign_folder(connection, url, visibility):
        raise Forbidden(
            f"{url} contains a folder that belongs to another group: give a folder below it"
        )


async def are_folders_present(
    connection: Connection, urls: Sequence[str], visibility: Visibility
) -> bool:
    """Return whether no URL is, or is in, the folder of a data set that is not visible."""
    return await _foreign(connection, urls, visibility) is None


async def _foreign(
    connection: Connection, urls: Sequence[str], visibility: Visibility
) -> str | None:
    if visibility.groups is None:
        return None
    folders = {folder for url in urls for folder in _with_parents(url)}
    return await find_foreign_folder(connection, sorted(folders), visibility)


async def require_files_present(
    connection: Connection, places: Sequence[tuple[UUID, str]], visibility: Visibility
) -> None:
    """Check that no file at these places belongs to a data set that is not visible.

    Args:
        connection: A connection to the catalogue.
        places: Storage and path of each file.
        visibility: The visibility of the principal.

    Raises:
        Forbidden: One does.
    """
    if visibility.groups is None:
        return
    path = await find_foreign_file(connection, places, visibility)
    if path is not None:
        raise Forbidden(f"the file {path} belongs to another group")


def _with_parents(url: str) -> list[str]:
    """Return the URL and all URLs above it: ``file:///a`` is above ``file:///a/b``."""
    scheme, separator, rest = url.partition("://")
    parts = rest.split("/")
    return [f"{scheme}{separator}{'/'.join(parts[:end])}" for end in range(1, len(parts) + 1)]


def _url_inside(urls: Sequence[str], folder: str) -> str:
    return next((url for url in urls if url == folder or url.startswith(f"{folder}/")), folder)
