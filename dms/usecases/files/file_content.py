"""The content of an open file, and how a file is opened."""

from dataclasses import dataclass

import structlog

from dms.usecases.files.file_reads import OpenFile
from sluice.storage import ChecksumMismatch

log = structlog.get_logger(__name__)


#: Bytes read at once.
PIECE = 512 * 1024


@dataclass(frozen=True, slots=True)
class FileContent:
    """The content of a file; its holder must release ``file``.

    Attributes:
        file: The file.
        name: The file name for people.
        size: Size in bytes.
        checksum: The checksum in the catalogue; None if the catalogue does not know the file.
    """

    file: OpenFile
    name: str
    size: int
    checksum: str | None


def require_checksum(url: str, actual: str, *, expected_checksum: str | None) -> None:
    """Check a SHA-256 digest against the expected checksum, if there is one.

    Raises:
        ChecksumMismatch: They differ.
    """
    if expected_checksum is not None and expected_checksum != f"sha256:{actual}":
        log.error("content.damaged", url=url, expected=expected_checksum, found=actual)
        raise ChecksumMismatch(url, expected=expected_checksum, actual=f"sha256:{actual}")


async def open_or_release(file: OpenFile) -> None:
    """Open a file; release it if it cannot be opened or the caller is cancelled."""
    try:
        await file.open()
    except BaseException:
        file.release()
        raise
