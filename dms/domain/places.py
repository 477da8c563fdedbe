"""Places of files: a URL is split into a storage and a path below it, or refused.

The text of the URL alone decides. Code that touches files checks symbolic links
(``sluice.storage.is_within``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sluice.contracts.common.naming import FILE_SYSTEM_NAME_BYTES
from sluice.contracts.common.plain_paths import stays_inside
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.asset_refs import NAME_PREFIX
from sluice.text.visible_text import quoted

#: Longest folder name in bytes: what file systems take, less the prefix of a temporary name.
MAX_FOLDER_BYTES = 240
#: Longest path in bytes that Linux takes.
MAX_PATH_BYTES = 4_095


class OutsideStorages(Unprocessable):
    """A URL that is outside all storages, or leads out of its storage."""

    def __init__(self, subject: str, url: str, reason: str) -> None:
        super().__init__(f"{subject}: {url} {reason}", what=subject, url=url)


class ReservedFolder(Unprocessable):
    """A URL in a folder that is reserved for assets."""

    def __init__(self, subject: str, url: str) -> None:
        super().__init__(
            f"{subject}: {url} is in a folder whose name begins with {quoted(NAME_PREFIX)}, which"
            " is reserved for assets: give another folder",
            what=subject,
            url=url,
        )


@dataclass(frozen=True, slots=True)
class Root:
    """The root of a storage.

    Attributes:
        id: Id of the storage.
        name: Name of the storage.
        type: Type of the storage.
        url: URL without a slash at its end.
        read_only: Sluice does not write to the storage.
        enabled: The storage is enabled.
        lies_at: The path of its folder without links when it was registered or last enabled. None
            if that is not known or the storage is not a local folder.
    """

    id: UUID
    name: str
    type: StorageType
    url: str
    read_only: bool
    enabled: bool
    lies_at: str | None = None

    def moved_to(self, path: str) -> str | None:
        """Return an error text if its folder is at another path now; None if it did not move."""
        if self.lies_at in {None, path}:
            return None
        return (
            f"its folder is {path} now, but was {self.lies_at} when it was registered or last"
            " enabled: restore the folder, or disable and enable the storage to accept the change"
        )

    def build_url(self, path: str) -> str:
        """Return the URL of a path below the storage."""
        return f"{self.url}/{path}" if path else self.url


@dataclass(frozen=True, slots=True)
class StoragePlace:
    """A place on a storage.

    ``path`` is below the URL of the storage; an empty path is the folder of the storage.
    """

    root: Root
    path: str

    @property
    def url(self) -> str:
        """Return the URL of the place."""
        return self.root.build_url(self.path)


def require_unreserved_folder(place: StoragePlace, *, subject: str) -> None:
    """Check that a place is not in the folder of an asset, whether or not the asset exists.

    Raises:
        ReservedFolder: It is.
    """
    if place.path.startswith(NAME_PREFIX):
        raise ReservedFolder(subject, place.url)


def storage_place(url: str, roots: Sequence[Root], *, subject: str) -> StoragePlace:
    """Return the place that ``url`` names; the innermost storage wins.

    Args:
        url: A URL of a file or folder.
        roots: The storages to consider.
        subject: The object that has the URL, for the message.

    Raises:
        OutsideStorages: The URL is on none of the storages, leads out of it, or is too long.
    """
    holders = [root for root in roots if url == root.url or url.startswith(root.url + "/")]
    if not holders:
        known_urls = ", ".join(sorted(root.url for root in roots)) or "none is registered"
        raise OutsideStorages(
            subject,
            url,
            f"is not in a registered, enabled storage ({known_urls}): register the storage first",
        )
    root = max(holders, key=lambda holder: len(holder.url))
    path = url[len(root.url) + 1 :]
    if path and not stays_inside(path):
        raise OutsideStorages(
            subject,
            url,
            f"does not stay inside storage {quoted(root.name)} ({root.url}): give a plain path"
            " below it",
        )
    if url.startswith("file:") and (why := _too_long(url)):
        raise OutsideStorages(subject, url, f"{why}: give a shorter one")
    return StoragePlace(root, path)


def require_length_for_files(folder: StoragePlace, *, subject: str) -> None:
    """Refuse a folder in which the path of a file could be longer than file systems take.

    Raises:
        OutsideStorages: The path of the folder is too long.
    """
    max_bytes = MAX_PATH_BYTES - FILE_SYSTEM_NAME_BYTES - 1
    if folder.url.startswith("file:") and _path_bytes(folder.url) > max_bytes:
        raise OutsideStorages(
            subject,
            folder.url,
            f"has a path of more than {max_bytes} bytes, which leaves no space for the names of"
            " files: give a shorter one",
        )


def _path_bytes(url: str) -> int:
    return len(url.removeprefix("file://").encode())


def _too_long(url: str) -> str:
    if len(url.encode()) <= FILE_SYSTEM_NAME_BYTES:
        return ""
    if any(len(name.encode()) > FILE_SYSTEM_NAME_BYTES for name in url.split("/")):
        return f"has a name of more than {FILE_SYSTEM_NAME_BYTES} bytes, which no file system takes"
    if _path_bytes(url) > MAX_PATH_BYTES:
        return f"has a path of more than {MAX_PATH_BYTES} bytes, which no file system takes"
    return ""


def upload_folder(dataset_name: str, output_name: object) -> str:
    """Return the folder of an upload below its storage.

    It starts with ``output_name`` (from the metadata), so that people recognise it. It ends with
    the name of the data set, so that it is unique.
    """
    if not isinstance(output_name, str):
        return dataset_name
    readable = "".join(
        letter if letter.isalnum() or letter in "_+-=@," else "_" for letter in output_name
    ).strip("_")
    max_bytes = MAX_FOLDER_BYTES - len(dataset_name.encode()) - 1
    readable = readable.encode()[: max(max_bytes, 0)].decode(errors="ignore")
    return f"{readable}.{dataset_name}" if readable else dataset_name
