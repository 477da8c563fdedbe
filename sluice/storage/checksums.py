"""Checksums as the catalogue keeps them: ``sha256:<hex>``."""

import hashlib
import os
from collections.abc import Callable

from sluice.storage.errors import ChecksumMismatch

#: Bytes read at once.
CHUNK = 1 << 20


def checksum_of(path: str | os.PathLike[str], *, check: Callable[[], None] | None = None) -> str:
    """``sha256:<hex>`` of a local file's content; ``check`` as in ``going_on``. Raises ``OSError``."""
    with open(path, "rb", buffering=0) as file:
        return stream(going_on(file.read, check), None)[0]


def stream(
    read: Callable[[int], bytes], write: Callable[[bytes], object] | None
) -> tuple[str, int]:
    """Reads to the end, writes what was read, and gives its checksum and size in bytes."""
    digest = hashlib.sha256()
    size = 0
    while data := read(CHUNK):
        digest.update(data)
        size += len(data)
        if write is not None:
            write(data)
    return f"sha256:{digest.hexdigest()}", size


def going_on(
    read: Callable[[int], bytes], check: Callable[[], None] | None
) -> Callable[[int], bytes]:
    """``read``, with ``check`` called before each time: what it raises breaks a long reading off."""
    if check is None:
        return read

    def checked(size: int) -> bytes:
        check()
        return read(size)

    return checked


def require_same(
    url: str, *, expected: tuple[str | None, int | None], found: tuple[str, int]
) -> None:
    """Raises ``ChecksumMismatch`` where (checksum, size) differ; None: not known, not compared."""
    checksum, size = expected
    if size is not None and size != found[1]:
        raise ChecksumMismatch(url, expected=f"{size} bytes", found=f"{found[1]} bytes")
    if checksum is not None and checksum != found[0]:
        raise ChecksumMismatch(url, expected=checksum, found=found[0])
