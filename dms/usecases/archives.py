"""The two forms of an archive, written piece by piece: what has been taken is not kept."""

import io
import tarfile
import zipfile
from datetime import datetime
from typing import IO, Protocol, assert_never

from sluice.contracts.datasets import ArchiveFormat


class ArchiveWriter(Protocol):
    """``begin``, ``write`` until ``size`` bytes are written, ``end``; the same for each file; then
    ``finish``. ``take`` gives what has become of it since it was called last.
    """

    def begin(self, path: str, size: int, time: datetime) -> None: ...
    def write(self, data: bytes) -> None: ...
    def end(self) -> None: ...
    def finish(self) -> None: ...
    def take(self) -> bytes: ...

    @property
    def waiting(self) -> int:
        """Bytes that ``take`` would give."""
        ...


class _Sink(io.RawIOBase):
    """A file that cannot be gone back in."""

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
    """POSIX pax. Any number of files, of any size, in the same memory."""

    def __init__(self) -> None:
        self._sink = _Sink()
        self._written = 0

    @property
    def waiting(self) -> int:
        return self._sink.waiting

    def begin(self, path: str, size: int, time: datetime) -> None:
        member = tarfile.TarInfo(path)
        member.size, member.mtime, member.mode = size, int(time.timestamp()), 0o644
        self._sink.write(member.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape"))
        self._written = 0

    def write(self, data: bytes) -> None:
        self._sink.write(data)
        self._written += len(data)

    def end(self) -> None:
        self._sink.write(bytes(-self._written % tarfile.BLOCKSIZE))

    def finish(self) -> None:
        self._sink.write(bytes(2 * tarfile.BLOCKSIZE))

    def take(self) -> bytes:
        return self._sink.take()


class ZipWriter:
    """Its directory stands at the end, so what it says of each file is kept until then."""

    def __init__(self) -> None:
        self._sink = _Sink()
        # Barely compressed: a stream of stored files of unknown checksum is what some programs
        # cannot unpack.
        self._archive = zipfile.ZipFile(self._sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self._member: IO[bytes] | None = None

    @property
    def waiting(self) -> int:
        return self._sink.waiting

    def begin(self, path: str, size: int, time: datetime) -> None:
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
        if self._member is not None:
            self._member.write(data)

    def end(self) -> None:
        if self._member is not None:
            self._member.close()

    def finish(self) -> None:
        self._archive.close()

    def take(self) -> bytes:
        return self._sink.take()


#: Before it, a zip knows no time.
_FIRST = datetime(1980, 1, 1)  # noqa: DTZ001 - a zip's times have no zone


def writer_of(format_: ArchiveFormat) -> ArchiveWriter:
    match format_:
        case ArchiveFormat.TAR:
            return TarWriter()
        case ArchiveFormat.ZIP:
            return ZipWriter()
        case _:
            assert_never(format_)
