"""Where files may lie: a URL is taken apart into a storage and a path below it, or refused.

Judged by the text alone; symbolic links are looked at where files are touched
(``sluice.storage.within``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sluice.contracts.naming import FILE_SYSTEM_NAME_BYTES
from sluice.contracts.plain_paths import stays_inside
from sluice.contracts.problems import Unprocessable
from sluice.contracts.states import StorageType
from sluice.visible_text import quoted

#: Longest name that file systems take, bytes, less room for a temporary name's beginning.
LONGEST_FOLDER = 240
#: Longest that Linux takes, bytes: a name, and a whole path.
LONGEST_NAME, LONGEST_PATH = FILE_SYSTEM_NAME_BYTES, 4_095


class OutsideStorages(Unprocessable):
    """A URL that no storage holds, or that would lead out of it."""

    def __init__(self, subject: str, url: str, reason: str) -> None:
        super().__init__(f"{subject}: {url} {reason}", what=subject, url=url)


@dataclass(frozen=True, slots=True)
class Root:
    """A storage as far as places go. ``url`` has no slash at its end. ``lies_at``: the path of its
    folder without links, as it was found when it was registered or last enabled; None: not known,
    or no local folder."""

    id: UUID
    name: str
    type: StorageType
    url: str
    read_only: bool
    enabled: bool
    lies_at: str | None = None

    def moved_to(self, path: str) -> str | None:
        """What to say where its folder, without links, is ``path`` now; None: it is the same."""
        if self.lies_at in {None, path}:
            return None
        return (
            f"its folder is {path} now, and was {self.lies_at} when it was registered or last"
            " enabled: put that back, or disable the storage and enable it where this is meant"
        )

    def url_of(self, path: str) -> str:
        return f"{self.url}/{path}" if path else self.url


@dataclass(frozen=True, slots=True)
class StoragePlace:
    """``path`` lies below the storage's URL; empty: the storage's own folder."""

    root: Root
    path: str

    @property
    def url(self) -> str:
        return self.root.url_of(self.path)


def storage_place(url: str, roots: Sequence[Root], *, subject: str) -> StoragePlace:
    """The place that ``url`` names; of storages inside one another, the innermost. ``subject``:
    whose URL it is, for the message.

    Raises ``OutsideStorages``.
    """
    holders = [root for root in roots if url == root.url or url.startswith(root.url + "/")]
    if not holders:
        known = ", ".join(sorted(root.url for root in roots)) or "none is registered"
        raise OutsideStorages(
            subject,
            url,
            f"lies in no registered, enabled storage ({known}): register the storage first",
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


def require_room_for_files(folder: StoragePlace, *, subject: str) -> None:
    """Refuse a folder below which the path of a file could be longer than file systems take.

    Raises:
        OutsideStorages: The path of the folder is too long.
    """
    most = LONGEST_PATH - LONGEST_NAME - 1
    if folder.url.startswith("file:") and _path_bytes(folder.url) > most:
        raise OutsideStorages(
            subject,
            folder.url,
            f"has a path of more than {most} bytes, which leaves no room for the names of files:"
            " give a shorter one",
        )


def _path_bytes(url: str) -> int:
    return len(url.removeprefix("file://").encode())


def _too_long(url: str) -> str:
    if len(url.encode()) <= LONGEST_NAME:
        return ""
    if any(len(name.encode()) > LONGEST_NAME for name in url.split("/")):
        return f"has a name of more than {LONGEST_NAME} bytes, which no file system takes"
    if _path_bytes(url) > LONGEST_PATH:
        return f"has a path of more than {LONGEST_PATH} bytes, which no file system takes"
    return ""


def upload_folder(dataset_name: str, output_name: object) -> str:
    """Folder of an uploaded data set below its storage: ``output_name`` (of its metadata) for
    people, the name to be unique."""
    if not isinstance(output_name, str):
        return dataset_name
    wanted = "".join(
        letter if letter.isalnum() or letter in "_+-=@," else "_" for letter in output_name
    ).strip("_")
    room = LONGEST_FOLDER - len(dataset_name.encode()) - 1
    readable = wanted.encode()[: max(room, 0)].decode(errors="ignore")
    return f"{readable}.{dataset_name}" if readable else dataset_name
