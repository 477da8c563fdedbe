"""Archives that are written piece by piece are valid."""

import io
import tarfile
import zipfile
from datetime import UTC, datetime
from typing import cast

import pytest

from dms.usecases.files.archives import ArchiveWriter, create_writer
from sluice.contracts.data.datasets import ArchiveFormat

TIME = datetime(2026, 10, 2, 12, 30, 2, tzinfo=UTC)
FILES = {
    "readme.txt": b"hits\n",
    "empty": b"",
    "a/ünïcode name.dat": bytes(range(256)) * 3,
    "a/" + "long" * 55 + ".dat": b"x" * 512,
    "a/large.bin": bytes(3_000_000),
}


def pack(writer: ArchiveWriter, *, largest: list[int]) -> bytes:
    parts = []
    for path, data in FILES.items():
        writer.begin(path, len(data), TIME)
        for start in range(0, len(data), 100_000):
            writer.write(data[start : start + 100_000])
            largest.append(writer.waiting)
            parts.append(writer.take())
        writer.end()
    writer.finish()
    return b"".join([*parts, writer.take()])


def test_tar_archive_contains_the_files() -> None:
    with tarfile.open(
        fileobj=io.BytesIO(pack(create_writer(ArchiveFormat.TAR), largest=[]))
    ) as archive:
        contents = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
        times, modes = {member.mtime for member in archive}, {member.mode for member in archive}
    assert (contents, times, modes) == (FILES, {int(TIME.timestamp())}, {0o644})


def test_unknown_archive_format_is_an_error() -> None:
    with pytest.raises(AssertionError):
        create_writer(cast(ArchiveFormat, "rar"))


def test_tar_archive_ends_with_two_blocks_of_zeros() -> None:
    """Without these blocks (POSIX.1, pax), a reader cannot recognize a truncated archive."""
    writer = create_writer(ArchiveFormat.TAR)
    writer.begin("last", 1, TIME)
    writer.write(b"x")
    writer.end()
    before = len(writer.take())
    writer.finish()
    assert (before % tarfile.BLOCKSIZE, writer.take()) == (0, bytes(2 * tarfile.BLOCKSIZE))


def test_zip_archive_contains_the_files() -> None:
    archive = zipfile.ZipFile(io.BytesIO(pack(create_writer(ArchiveFormat.ZIP), largest=[])))
    assert archive.testzip() is None
    assert {info.filename: archive.read(info) for info in archive.infolist()} == FILES
    assert {info.date_time for info in archive.infolist()} == {(2026, 10, 2, 12, 30, 2)}


@pytest.mark.parametrize("form", ArchiveFormat)
def test_writer_does_not_keep_the_bytes_already_taken(form: ArchiveFormat) -> None:
    largest: list[int] = []
    pack(create_writer(form), largest=largest)
    assert max(largest) < 210_000


def test_time_before_1980_becomes_the_earliest_time_of_a_zip() -> None:
    writer = create_writer(ArchiveFormat.ZIP)
    writer.begin("old", 0, datetime(1970, 1, 1, tzinfo=UTC))
    writer.end()
    writer.finish()
    [info] = zipfile.ZipFile(io.BytesIO(writer.take())).infolist()
    assert info.date_time == (1980, 1, 1, 0, 0, 0)
