"""Checks of what a principal sees: data sets, and the files in their folders."""

from collections.abc import Sequence
from uuid import UUID

from dms.db.owners import (
    contains_foreign_folder,
    find_foreign_file,
    find_foreign_folder,
    find_ownership,
)
from dms.domain.errors import AssetDatasetReadOnly, UnknownDataset
from sluice.contracts.access.owners import Visibility
from sluice.contracts.common.problems import Forbidden
from sluice.contracts.data.asset_refs import MARK
from sluice.contracts.data.datasets import Dataset
from sluice.servicekit.database import Connection, Database
from sluice.text.visible_text import quoted


async def require_present(
    database: Database, uid: UUID, visibility: Visibility, *, changes: bool
) -> None:
    """Check that the principal sees a data set; ``changes``: may also change it.

    Raises:
        UnknownDataset: The data set does not exist, or is not visible.
        Forbidden: The data set is only shared for reading.
    """
    async with database.connection() as connection:
        owned = await find_ownership(connection, uid)
    if owned is None or not visibility.sees(owned.group, owned.shared_with):
        raise UnknownDataset(uid)
    if changes and not visibility.is_member(owned.group):
        raise Forbidden(
            f"data set {quoted(owned.name)} belongs to the group {owned.group}, which shares it for"
            " reading only",
            dataset=uid,
        )


def require_no_asset(dataset: Dataset) -> None:
    """Check that a data set holds no version of an asset.

    Raises:
        AssetDatasetReadOnly: It holds one.
    """
    if MARK in dataset.meta:
        raise AssetDatasetReadOnly(dataset)


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


async def present_folders(
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
