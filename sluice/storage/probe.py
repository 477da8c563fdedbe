"""Test whether a storage can be used, before it is registered."""

import os
import secrets
from contextlib import suppress

from sluice.storage import remote
from sluice.storage.entries import make_temporary_name
from sluice.storage.errors import FileMissing, StorageError, StorageUnavailable, os_errors_at
from sluice.storage.operations import put_bytes, remove, verify
from sluice.storage.places import find_local_path


def probe(url: str, *, read_only: bool) -> None:
    """Write, read back and remove a small file. If ``read_only``, read the list of files.

    Nothing remains unless removal fails.

    Raises:
        StorageError: The operation that failed.
    """
    path = find_local_path(url)
    if path is not None and not os.path.isdir(path):
        raise StorageUnavailable(url, "there is no such folder; make it, or mount its file system")
    if read_only:
        _read(url, path)
    else:
        _use(f"{url}/{make_temporary_name()}")


def _read(url: str, path: str | None) -> None:
    if path is None:
        remote.check_list(url)
        return
    with os_errors_at(url), os.scandir(path) as items:
        next(items, None)


def _use(url: str) -> None:
    content = secrets.token_bytes(64)
    try:
        stored = put_bytes(content, url)
        verify(url, checksum=stored.checksum, size=len(content))
        if not remove(url):
            raise FileMissing(url)
    except StorageError:
        with suppress(StorageError):
            remove(url)
        raise
    try:
        verify(url, checksum=stored.checksum, size=len(content))
    except FileMissing:
        return
    raise StorageUnavailable(url, "a file that was removed is still there")
