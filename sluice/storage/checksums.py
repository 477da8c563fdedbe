"""Checksums in the form of the catalogue: ``sha256:<hex>``."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from sluice.storage.entries import StoredFile
from sluice.storage.errors import ChecksumMismatch

#: The number of bytes read at once.
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Content:
    """The expected content of a file. None is unknown and not compared. ``size`` is in bytes."""

    checksum: str | None = None
    size: int | None = None


#: The expectation of a file that may hold anything.
ANY = Content()


def stream(read: Callable[[int], bytes], write: Callable[[bytes], object] | None) -> StoredFile:
    """Read to the end, write what was read, and return its size and checksum."""
    digest = hashlib.sha256()
    size = 0
    while data := read(CHUNK):
        digest.update(data)
        size += len(data)
        if write is not None:
            write(data)
    return StoredFile(size, f"sha256:{digest.hexdigest()}")


def with_check(
    read: Callable[[int], bytes], check: Callable[[], None] | None
) -> Callable[[int], bytes]:
    """Return ``read`` with ``check`` called before each read. An exception of it stops the read."""
    if check is None:
        return read

    def checked(size: int) -> bytes:
        check()
        return read(size)

    return checked


def require_same(url: str, *, expected_content: Content, actual: StoredFile) -> None:
    """Check that the content is as expected.

    Raises:
        ChecksumMismatch: It differs.
    """
    require_size(url, expected_size=expected_content.size, actual=actual.size)
    if expected_content.checksum is not None and expected_content.checksum != actual.checksum:
        raise ChecksumMismatch(url, expected=expected_content.checksum, actual=actual.checksum)


def require_size(url: str, *, expected_size: int | None, actual: int) -> None:
    """Check that the size is as expected. None is not compared.

    Raises:
        ChecksumMismatch: It differs.
    """
    if expected_size is not None and expected_size != actual:
        raise ChecksumMismatch(url, expected=f"{expected_size} bytes", actual=f"{actual} bytes")
