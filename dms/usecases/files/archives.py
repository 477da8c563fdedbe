"""Writers of the two archive formats. They stream: data that was taken is not kept."""

import io
import tarfile
import zipfile
from datetime import datetime
from typing import IO, Protocol, assert_never

from sluice.contracts.data.datasets import ArchiveFormat


class ArchiveWriter(Protocol):
    """A writer of an archive.

    For each file call ``begin``, then ``write`` until ``size`` bytes are written, then ``end``.
    Call ``finish`` after the last file. ``take`` returns the bytes since its last call.
    """

    def begin(self, path: str, size: int, time: datetime) -> None:
        """Start a file."""

    def write(self, data: bytes) -> None:
        """Add content to the file."""

    def end(self) -> None:
        """End the file."""

    def finish(self) -> None:
        """End the archive."""

    def take(self) -> bytes:
        """Return and forget the bytes written since the last call."""

    @property
    def waiting(self) -> int:
        """Return how many bytes ``take`` would return."""
        ...


class _Sink(io.RawIOBase):
    """A file object that cannot seek and keeps what is written until it is taken."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.waiting = 0

    def writable(self) -> bool:
        return True

    def write(self, data: "bytes | bytearray | memoryview") -> int:  # type: ignore[override] # any buffer, as RawIOBase says in words
        self.parts.append(bytes(data))
        self.waiting += len(data)
        return len(data)

    def take(self) -> bytes:
        parts, self.parts, self.waiting = self.parts, [], 0
        return b"".join(parts)


class TarWriter:
    """A writer of POSIX pax archives. Its memory does not grow with the number or size of files."""

    def __init__(self) -> None:
        self._sink = _Sink()
        self._member_size = 0

    @property
    def waiting(self) -> int:
        """Return how many bytes ``take`` would return."""
        return self._sink.waiting

    def begin(self, path: str, size: int, time: datetime) -> None:
        """Start a file."""
        member = tarfile.TarInfo(path)
        member.size, member.mtime, member.mode = size, int(time.timestamp()), 0o644
        self._sink.write(member.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape"))
        self._member_size = 0

    def write(self, data: bytes) -> None:
        """Add content to the file."""
        self._sink.write(data)
        self._member_size += len(data)

    def end(self) -> None:
        """End the file."""
        self._sink.write(bytes(-self._member_size % tarfile.BLOCKSIZE))

    def finish(self) -> None:
        """End the archive."""
        self._sink.write(bytes(2 * tarfile.BLOCKSIZE))

    def take(self) -> bytes:
        """Return and forget the bytes written since the last call."""
        return self._sink.take()


class ZipWriter:
    """A writer of zip archives.

    The directory of a zip is at its end, so the writer keeps an entry for each file until then.
    """

    def __init__(self) -> None:
        self._sink = _Sink()
        # Compression is minimal but on: some programs cannot unpack a stream of stored files whose
        # checksums come after the content.
        self._archive = zipfile.ZipFile(self._sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self._member: IO[bytes] | None = None

    @property
    def waiting(self) -> int:
        """Return how many bytes ``take`` would return."""
        return self._sink.waiting

    def begin(self, path: str, size: int, time: datetime) -> None:
        """Start a file."""
        member = zipfile.ZipInfo(
            path, max(time, _FIRST.replace(tzinfo=time.tzinfo)).timetuple()[:6]
        )
        member.compress_type, member.external_attr, member.file_size = (
            zipfile.ZIP_DEFLATED,
            0o644 << 16,
            size,
        )
        self._member = self._archive.open(member, "w")

    def write(self, data: bytes) -> None:
        """Add content to the file."""
        if self._member is not None:
            self._member.write(data)

    def end(self) -> None:
        """End the file."""
        if self._member is not None:
            self._member.close()

    def finish(self) -> None:
        """End the archive."""
        self._archive.close()

    def take(self) -> bytes:
        """Return and forget the bytes written since the last call."""
        return self._sink.take()


#: The earliest time that a zip can hold.
_FIRST = datetime(1980, 1, 1)  # noqa: DTZ001 - a zip's times have no zone


def create_writer(format_: ArchiveFormat) -> ArchiveWriter:
    """Create a writer for a format."""
    match format_:
        case ArchiveFormat.TAR:
            return TarWriter()
        case ArchiveFormat.ZIP:
            return ZipWriter()
        case _:
            assert_never(format_)
