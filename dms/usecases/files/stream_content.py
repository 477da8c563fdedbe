"""Stream the content of a file, or a part of it."""

import hashlib
from collections.abc import AsyncGenerator
from functools import partial

from dms.domain.ranges import Span
from dms.usecases.files.file_content import PIECE, FileContent, require_checksum
from sluice.storage import ChecksumMismatch, Reader


async def stream_content(content: FileContent, span: Span) -> AsyncGenerator[bytes, None]:
    """Yield the bytes of ``span``, and release the file at the end.

    The checksum of a whole file is compared. If it differs, the last piece is held back, so that
    the file does not look complete.

    Raises:
        StorageError: The file cannot be read, or is not as it was registered.
    """
    digest = (
        hashlib.sha256() if content.checksum is not None and span == Span(0, content.size) else None
    )
    try:
        place = span.start
        while place < span.end:
            piece = await content.file.run(
                partial(_piece, place=place, length=min(PIECE, span.end - place), digest=digest)
            )
            place += len(piece)
            if place == span.end and digest is not None:
                require_checksum(
                    content.file.url, digest.hexdigest(), expected_checksum=content.checksum
                )
            yield piece
    finally:
        content.file.release()


def _piece(reader: Reader, *, place: int, length: int, digest: "hashlib._Hash | None") -> bytes:
    data = reader.read(place, length)
    if len(data) < length:
        raise ChecksumMismatch(
            reader.url, expected=f"{reader.size} bytes", actual=f"{place + len(data)} bytes"
        )
    if digest is not None:
        digest.update(data)
    return data
