"""Checksums as the catalogue keeps them: ``sha256:<hex>``."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from sluice.storage.entries import Stored
from sluice.storage.errors import ChecksumMismatch

#: Bytes read at once.
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Content:
    """What a file has to hold, as far as it is known; None: not known, not compared. ``size`` in
    bytes."""

    checksum: str | None = None
    size: int | None = None


#: Of a file that may hold anything.
ANY = Content()


def stream(read: Callable[[int], bytes], write: Callable[[bytes], object] | None) -> Stored:
    """Reads to the end, writes what was read, and gives its size and checksum."""
    digest = hashlib.sha256()
    size = 0
    while data := read(CHUNK):
        digest.update(data)
        size += len(data)
        if write is not None:
            write(data)
    return Stored(size, f"sha256:{digest.hexdigest()}")


def going_on(
    read: Callable[[int], bytes], check: Callable[[], None] | None
) -> Callable[[int], bytes]:
    """``read``, with ``check`` called before each time: what it raises breaks a long read off."""
    if check is None:
        return read

    def checked(size: int) -> bytes:
        check()
        return read(size)

    return checked


def require_same(url: str, *, expected: Content, found: Stored) -> None:
    """Raises ``ChecksumMismatch`` where they differ."""
    require_size(url, expected=expected.size, found=found.size)
    if expected.checksum is not None and expected.checksum != found.checksum:
        raise ChecksumMismatch(url, expected=expected.checksum, found=found.checksum)


def require_size(url: str, *, expected: int | None, found: int) -> None:
    """Raises ``ChecksumMismatch`` where they differ; ``expected``: None: not known."""
    if expected is not None and expected != found:
        raise ChecksumMismatch(url, expected=f"{expected} bytes", found=f"{found} bytes")
