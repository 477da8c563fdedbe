"""Reading and writing files on storages, named by URL. All calls block: services make them in
threads.

A file appears under its name only when it is complete and verified; repeating an operation that was
cut off is safe. URLs are taken literally (a ``%`` is a per cent sign). Every function raises
``StorageError`` and nothing else for what storages do; whether a URL *may* be touched is the
caller's question to ``within`` or ``require_within``.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from sluice.storage import local, remote
from sluice.storage.checksums import Content
from sluice.storage.copying import file_checksum
from sluice.storage.entries import Entry, Stored, temporary_name
from sluice.storage.errors import ChecksumMismatch, FileMissing, os_errors_at
from sluice.storage.places import local_path, local_url, require_inside_by_name
from sluice.storage.reader import open_reader


def fetch(
    url: str,
    to: str | os.PathLike[str],
    *,
    checksum: str | None,
    size: int | None,
    copied: int = 0,
    reuse: bool = False,
) -> bool:
    """Brings a file to the local path ``to``, whose folder exists: local files of more than
    ``copied`` bytes as a link, all others as a copy. True: it is a link, and who writes to it
    writes to the storage. ``reuse``: what stands there is a file of the caller's own, which may be
    written over.

    Raises ``FileMissing``, ``ChecksumMismatch`` (content is verified either way; None: not
    compared), ``StorageUnavailable``.
    """
    path = local_path(url)
    if path is not None:
        if local.size_of(url, path) <= copied:
            local.bring(url, path, to=os.fspath(to), expected=Content(checksum, size), reuse=reuse)
            return False
        local.verify(url, path, checksum=checksum, size=size)
        local.link(url, path, to=os.fspath(to))
        return True
    temporary = Path(to).with_name(temporary_name())
    try:
        remote.fetch(url, str(temporary), checksum=checksum, size=size)
        with os_errors_at(url):
            os.replace(temporary, to)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return False


def put(path: Path, url: str, *, check: Callable[[], None] | None = None) -> Stored:
    """Writes a local file to a storage, replacing what stood there; folders are made.

    ``check``: called again and again while bytes go; what it raises breaks the copy off, and
    nothing is left of it. Raises ``FileMissing`` (of ``path``), ``StorageFull``,
    ``StorageUnavailable``, ``ChecksumMismatch`` when read back.
    """
    source = os.fspath(path)
    source_url = local_url(source)
    if not os.path.isfile(source):
        raise FileMissing(source_url)
    target = local_path(url)
    if target is not None:
        return local.copy(source_url, source, url, target, check=check)
    return remote.put(source, url, check=check)


def put_open(
    file: int, url: str, *, given: bool = False, check: Callable[[], None] | None = None
) -> Stored:
    """As ``put``, of an open regular file.

    ``given``: it is given away: the storage may have it itself, where both are on one file system
    and it has one name only. That name stays; who writes to it then writes to the storage.
    """
    target = local_path(url)
    taken = local.take(file, url, target=target) if given and target is not None else None
    return taken or put(Path(local.open_file_path(file)), url, check=check)


def put_bytes(data: bytes, url: str) -> Stored:
    """Writes a small file; the rest as ``put``."""
    target = local_path(url)
    if target is not None:
        return local.put_bytes(data, url, target=target)
    return remote.put_bytes(data, url)


def copy(source_url: str, target_url: str, *, checksum: str | None, size: int | None) -> Stored:
    """Copies from storage to storage and verifies. A target that is already there and right is left
    as it is.

    Raises ``FileMissing`` (of the source), ``ChecksumMismatch``, ``StorageFull``,
    ``StorageUnavailable``.
    """
    if (
        checksum is not None
        and size is not None
        and _is_there(target_url, checksum=checksum, size=size)
    ):
        return Stored(size, checksum)
    source, target = local_path(source_url), local_path(target_url)
    if source is not None and target is not None:
        return local.copy(source_url, source, target_url, target, expected=Content(checksum, size))
    return remote.copy(source_url, target_url, expected=Content(checksum, size))


def join(
    parts: Sequence[str], target_url: str, *, checksum: str | None, size: int | None
) -> Stored:
    """One file of several, one behind the other, read anew and verified; what stood there is
    replaced. A target that is already there and right is left as it is.

    Raises ``FileMissing`` (of a part), ``ChecksumMismatch``, ``StorageFull``,
    ``StorageUnavailable``.
    """
    if (
        checksum is not None
        and size is not None
        and _is_there(target_url, checksum=checksum, size=size)
    ):
        return Stored(size, checksum)
    read, target = _Parts(parts).read, local_path(target_url)
    expected = Content(checksum, size)
    if target is None:
        return remote.write(read, target_url, target_url, expected)
    return local.write(read, target_url, target, expected=expected)


class _Parts:
    """What is in several files, read as if it were one."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._left = list(urls)
        self._offset = 0

    def read(self, length: int) -> bytes:
        """At most so many bytes; none at the end of the last."""
        while self._left:
            with open_reader(self._left[0]) as reader:
                data = reader.read(self._offset, length)
            self._offset += len(data)
            if data:
                return data
            self._offset = 0
            self._left.pop(0)
        return b""


def verify(url: str, *, checksum: str, size: int) -> None:
    """Raises ``FileMissing`` or ``ChecksumMismatch`` unless the file is there with this content."""
    path = local_path(url)
    if path is not None:
        local.verify(url, path, checksum=checksum, size=size)
    else:
        remote.verify(url, checksum=checksum, size=size)


def remove(url: str) -> bool:
    """Removes a file. True: it was there; False: it was not, which is success too. Raises
    ``StorageUnavailable``."""
    path = local_path(url)
    return local.remove(url, path) if path is not None else remote.remove(url)


def remove_within(storage_url: str, url: str) -> bool:
    """Remove a file of a URL that nobody has vouched for.

    Below a local storage no link is followed. A link in the place of the file is removed, wherever
    it leads.

    Raises:
        OutsideStorage: The file lies elsewhere (``BehindLink``: a folder on the way is a link).
        StorageUnavailable: The storage does not answer.
    """
    require_inside_by_name(storage_url, url)
    root = local_path(storage_url.rstrip("/"))
    return (
        remote.remove(url)
        if root is None
        else local.remove_below(root, url, storage_url=storage_url)
    )


def remove_folder_within(storage_url: str, url: str) -> bool:
    """Removes a folder when it is empty (missing: fine); below a local storage no link is followed.
    False: it still has files. Raises ``OutsideStorage`` (``BehindLink`` where there is one),
    ``StorageUnavailable``."""
    require_inside_by_name(storage_url, url)
    root = local_path(storage_url.rstrip("/"))
    return (
        remote.remove_folder(url)
        if root is None
        else local.remove_folder_below(root, url, storage_url=storage_url)
    )


def entries(url: str) -> list[Entry]:
    """All files below a folder, those half written included (``is_temporary``); a missing folder
    has none."""
    path = local_path(url)
    return list(local.entries(url, path) if path is not None else remote.entries(url))


def checksum_of(path: Path) -> str:
    """``sha256:<hex>`` of a local file. Raises ``FileMissing``, ``StorageUnavailable``."""
    with os_errors_at(local_url(path)):
        return file_checksum(path)


def _is_there(url: str, *, checksum: str, size: int) -> bool:
    try:
        verify(url, checksum=checksum, size=size)
    except (FileMissing, ChecksumMismatch):
        return False
    return True
