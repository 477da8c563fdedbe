"""Operations on files of storages, by URL. All calls block, so services make them in threads.

A file appears under its name only when it is complete and verified. An operation that was
interrupted may be repeated. URLs are taken literally (a ``%`` is a per cent sign). For failures of
storages every function raises only ``StorageError``. Callers check with ``is_within`` or
``require_within`` whether they may use a URL.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from sluice.storage import local, remote
from sluice.storage.checksums import Content
from sluice.storage.copying import compute_file_checksum
from sluice.storage.entries import Entry, StoredFile, make_temporary_name
from sluice.storage.errors import ChecksumMismatch, FileMissing, os_errors_at
from sluice.storage.places import build_local_url, find_local_path, require_inside_by_name
from sluice.storage.reader import open_reader


def fetch(
    url: str,
    to: str | os.PathLike[str],
    *,
    checksum: str | None,
    size: int | None,
    copied_bytes: int = 0,
    reuse: bool = False,
) -> bool:
    """Fetch a file to a local path, whose folder exists, and verify it.

    Args:
        url: The URL of the file.
        to: The local path.
        checksum: The expected checksum. None is not compared.
        size: The expected size in bytes. None is not compared.
        copied_bytes: Local files of more bytes are linked, and all others are copied.
        reuse: Whether a file of the caller at ``to`` may be overwritten in place.

    Returns:
        Whether it is a link. Writing to a link writes to the storage.

    Raises:
        FileMissing: There is no such file.
        ChecksumMismatch: The content differs.
        StorageUnavailable: The storage cannot be used.
    """
    path = find_local_path(url)
    if path is not None:
        if local.get_size(url, path) <= copied_bytes:
            local.fetch(
                url, path, to=os.fspath(to), expected_content=Content(checksum, size), reuse=reuse
            )
            return False
        local.verify(url, path, checksum=checksum, size=size)
        local.link(url, path, to=os.fspath(to))
        return True
    temporary = Path(to).with_name(make_temporary_name())
    try:
        remote.fetch(url, str(temporary), checksum=checksum, size=size)
        with os_errors_at(url):
            os.replace(temporary, to)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return False


def put(path: Path, url: str, *, check: Callable[[], None] | None = None) -> StoredFile:
    """Write a local file to a storage. An old file is replaced, and folders are created.

    Args:
        path: The local file.
        url: The URL to write.
        check: Is called again and again during the copy. An exception of it stops the copy, and
            nothing remains.

    Raises:
        FileMissing: The local file does not exist.
        StorageFull: No space is left.
        StorageUnavailable: The storage cannot be used.
        ChecksumMismatch: The file differs when it is read back.
    """
    source = os.fspath(path)
    source_url = build_local_url(source)
    if not os.path.isfile(source):
        raise FileMissing(source_url)
    target = find_local_path(url)
    if target is not None:
        return local.copy(source_url, source, url, target, check=check)
    return remote.put(source, url, check=check)


def put_open(
    file: int, url: str, *, may_link: bool = False, check: Callable[[], None] | None = None
) -> StoredFile:
    """Write an open regular file to a storage, as ``put`` does.

    ``may_link`` gives the file away. If it has only one name and is on the file system of the
    storage, the storage links it. Writing to the old name then writes to the storage.
    """
    target = find_local_path(url)
    linked = local.adopt(file, url, target=target) if may_link and target is not None else None
    return linked or put(Path(local.open_file_path(file)), url, check=check)


def put_bytes(data: bytes, url: str) -> StoredFile:
    """Write a small file to a storage, as ``put`` does."""
    target = find_local_path(url)
    if target is not None:
        return local.put_bytes(data, url, target=target)
    return remote.put_bytes(data, url)


def copy(source_url: str, target_url: str, *, checksum: str | None, size: int | None) -> StoredFile:
    """Copy a file from storage to storage, and verify it. A correct target stays as it is.

    Raises:
        FileMissing: The source does not exist.
        ChecksumMismatch: The content differs.
        StorageFull: No space is left.
        StorageUnavailable: A storage cannot be used.
    """
    if (
        checksum is not None
        and size is not None
        and _is_there(target_url, checksum=checksum, size=size)
    ):
        return StoredFile(size, checksum)
    source, target = find_local_path(source_url), find_local_path(target_url)
    if source is not None and target is not None:
        return local.copy(
            source_url, source, target_url, target, expected_content=Content(checksum, size)
        )
    return remote.copy(source_url, target_url, expected_content=Content(checksum, size))


def join(
    parts: Sequence[str], target_url: str, *, checksum: str | None, size: int | None
) -> StoredFile:
    """Join several files into one, and verify it. A correct target stays as it is.

    Raises:
        FileMissing: A part does not exist.
        ChecksumMismatch: The content differs.
        StorageFull: No space is left.
        StorageUnavailable: A storage cannot be used.
    """
    if (
        checksum is not None
        and size is not None
        and _is_there(target_url, checksum=checksum, size=size)
    ):
        return StoredFile(size, checksum)
    read, target = _Parts(parts).read, find_local_path(target_url)
    expected = Content(checksum, size)
    if target is None:
        return remote.write(read, target_url, target_url, expected)
    return local.write(read, target_url, target, expected_content=expected)


class _Parts:
    """The contents of several files, read as one file."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._remaining_urls = list(urls)
        self._offset = 0

    def read(self, length: int) -> bytes:
        """Return at most ``length`` bytes, or none at the end of the last file."""
        while self._remaining_urls:
            with open_reader(self._remaining_urls[0]) as reader:
                data = reader.read(self._offset, length)
            self._offset += len(data)
            if data:
                return data
            self._offset = 0
            self._remaining_urls.pop(0)
        return b""


def verify(url: str, *, checksum: str, size: int) -> None:
    """Check the size and checksum of a file.

    Raises:
        FileMissing: There is no such file.
        ChecksumMismatch: The content differs.
    """
    path = find_local_path(url)
    if path is not None:
        local.verify(url, path, checksum=checksum, size=size)
    else:
        remote.verify(url, checksum=checksum, size=size)


def remove(url: str) -> bool:
    """Remove a file, and return whether it existed.

    Raises:
        StorageUnavailable: The storage cannot be used.
    """
    path = find_local_path(url)
    return local.remove(url, path) if path is not None else remote.remove(url)


def remove_within(storage_url: str, url: str) -> bool:
    """Remove a file whose URL is not trusted, and return whether it existed.

    On a local storage no link is followed. If the file itself is a link, the link is removed.

    Raises:
        OutsideStorage: The file is elsewhere (``LinkInPath``: a folder on the path is a link).
        StorageUnavailable: The storage does not answer.
    """
    require_inside_by_name(storage_url, url)
    root = find_local_path(storage_url.rstrip("/"))
    return (
        remote.remove(url)
        if root is None
        else local.remove_below(root, url, storage_url=storage_url)
    )


def remove_folder_within(storage_url: str, url: str) -> bool:
    """Remove an empty folder, and return False if it has files. It may be missing.

    On a local storage no link is followed.

    Raises:
        OutsideStorage: The folder is elsewhere (``LinkInPath``: the path has a link).
        StorageUnavailable: The storage does not answer.
    """
    require_inside_by_name(storage_url, url)
    root = find_local_path(storage_url.rstrip("/"))
    return (
        remote.remove_folder(url)
        if root is None
        else local.remove_folder_below(root, url, storage_url=storage_url)
    )


def list_entries(url: str) -> list[Entry]:
    """Return all files below a folder, with temporary ones (``is_temporary``).

    A missing folder has none.
    """
    path = find_local_path(url)
    return list(local.list_entries(url, path) if path is not None else remote.list_entries(url))


def compute_checksum(path: Path) -> str:
    """Return the checksum of a local file (``sha256:<hex>``).

    Raises:
        FileMissing: There is no such file.
        StorageUnavailable: The file cannot be read.
    """
    with os_errors_at(build_local_url(path)):
        return compute_file_checksum(path)


def _is_there(url: str, *, checksum: str, size: int) -> bool:
    try:
        verify(url, checksum=checksum, size=size)
    except (FileMissing, ChecksumMismatch):
        return False
    return True
