"""What can go wrong with a file on a storage.

StorageError            any of these: carries ``url`` and ``reason``
├── FileMissing         there is no such file
├── ChecksumMismatch    the content is not what was recorded (``expected``, ``found``)
├── StorageFull         no room, or the quota is used up
├── NoFile              what is there is no file, or no file can be there
├── OutsideStorage      the URL does not lie in the storage it should
│   └── BehindLink      a link is passed on the way to it
└── StorageUnavailable  the storage does not answer, refuses access, or has no driver here
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

_FULL = {errno.ENOSPC, errno.EDQUOT}
#: The name, or the whole path, is longer than the file system takes; links lead in a circle.
_NO_PLACE = {errno.ENAMETOOLONG, errno.ELOOP}


class StorageError(Exception):
    """Root of all storage errors; ``str()`` is a sentence that names the file."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url}: {reason}")
        self.url = url
        self.reason = reason


class FileMissing(StorageError):
    def __init__(self, url: str) -> None:
        super().__init__(url, "there is no such file")


class ChecksumMismatch(StorageError):
    """``expected`` and ``found`` are checksums, or ``<n> bytes`` where already the sizes differ."""

    def __init__(self, url: str, *, expected: str, found: str) -> None:
        super().__init__(url, f"expected {expected}, found {found}")
        self.expected = expected
        self.found = found


class StorageFull(StorageError):
    def __init__(self, url: str) -> None:
        super().__init__(url, "the storage is full")


class NoFile(StorageError):
    pass


class OutsideStorage(StorageError):
    def __init__(
        self, url: str, storage_url: str, *, reason: str = "lies outside its storage"
    ) -> None:
        super().__init__(url, f"{reason} {storage_url}")
        self.storage_url = storage_url


class BehindLink(OutsideStorage):
    """What lies there is what another URL names, and belongs to whoever has that."""

    def __init__(self, url: str, storage_url: str) -> None:
        reason = (
            "is reached through a link, behind which nothing is written or removed (remove the link"
            " to go on), in its storage"
        )
        super().__init__(url, storage_url, reason=reason)


class StorageUnavailable(StorageError):
    pass


def is_full(error: OSError) -> bool:
    """Is there no room, or the quota used up?"""
    return error.errno in _FULL


def from_os_error(url: str, error: OSError) -> StorageError:
    """The storage error that says the same as an ``OSError``."""
    if isinstance(error, FileNotFoundError):
        return FileMissing(url)
    if is_full(error):
        return StorageFull(url)
    if error.errno in _NO_PLACE:
        return NoFile(url, f"no file can be there: {error.strerror}")
    return StorageUnavailable(url, error.strerror or str(error) or type(error).__name__)


@contextmanager
def os_errors_at(url: str) -> Iterator[None]:
    """Turns each ``OSError`` raised inside into its ``StorageError``."""
    try:
        yield
    except OSError as error:
        raise from_os_error(url, error) from error
