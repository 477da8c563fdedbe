"""Errors of files on storages.

StorageError            base class: carries ``url`` and ``reason``
├── FileMissing         there is no such file
├── ChecksumMismatch    the content is not what was recorded (``expected``, ``actual``)
├── StorageFull         no space is left, or the quota is used up
├── NotAFile            there is something else than a file, or no file can be there
├── OutsideStorage      the URL is not in the storage
│   └── LinkInPath      the path passes through a link
└── StorageUnavailable  the storage does not answer, refuses access, or has no driver here
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from sluice.text.os_errors import reason_of

_FULL = {errno.ENOSPC, errno.EDQUOT}
#: The name or the path is too long for the file system, or links form a cycle.
_NO_PLACE = {errno.ENAMETOOLONG, errno.ELOOP}


class StorageError(Exception):
    """Base class of storage errors. ``str()`` is a sentence that names the file."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url}: {reason}")
        self.url = url
        self.reason = reason


class FileMissing(StorageError):
    """There is no such file."""

    def __init__(self, url: str) -> None:
        super().__init__(url, "there is no such file")


class ChecksumMismatch(StorageError):
    """The content differs. ``expected`` and ``actual`` are checksums, or ``<n> bytes``."""

    def __init__(self, url: str, *, expected: str, actual: str) -> None:
        super().__init__(url, f"expected {expected}, found {actual}")
        self.expected = expected
        self.actual = actual


class StorageFull(StorageError):
    """No space is left, or the quota is used up."""

    def __init__(self, url: str) -> None:
        super().__init__(url, "the storage is full")


class NotAFile(StorageError):
    """There is something else than a file, or no file can be there."""

    pass


class OutsideStorage(StorageError):
    """The URL is not in the storage."""

    def __init__(
        self, url: str, storage_url: str, *, reason: str = "is outside its storage"
    ) -> None:
        super().__init__(url, f"{reason} {storage_url}")
        self.storage_url = storage_url


class LinkInPath(OutsideStorage):
    """The path passes through a link, so another URL owns the file."""

    def __init__(self, url: str, storage_url: str) -> None:
        reason = (
            "is reached through a link, behind which nothing is written or removed (remove the link"
            " to continue), in its storage"
        )
        super().__init__(url, storage_url, reason=reason)


class StorageUnavailable(StorageError):
    """The storage does not answer, refuses access, or has no driver here."""

    pass


def is_full(error: OSError) -> bool:
    """Return whether no space is left, or the quota is used up."""
    return error.errno in _FULL


def from_os_error(url: str, error: OSError) -> StorageError:
    """Return the storage error for an ``OSError``."""
    if isinstance(error, FileNotFoundError):
        return FileMissing(url)
    if is_full(error):
        return StorageFull(url)
    if error.errno in _NO_PLACE:
        return NotAFile(url, f"no file can be there: {reason_of(error)}")
    return StorageUnavailable(url, reason_of(error))


@contextmanager
def os_errors_at(url: str) -> Iterator[None]:
    """Turn each ``OSError`` raised in the context into a ``StorageError``."""
    try:
        yield
    except OSError as error:
        raise from_os_error(url, error) from error
