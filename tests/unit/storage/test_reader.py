"""Tests of readers that read any part of a file, on a local and a remote storage."""

import os
import uuid
from pathlib import Path

import pytest

from sluice import storage
from sluice.storage import FileMissing, NotAFile

CONTENT = bytes(range(256)) * 40


@pytest.fixture(params=["local", "remote"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    root = (
        f"file://{tmp_path}/storage" if request.param == "local" else f"memory://{uuid.uuid4().hex}"
    )
    storage.put_bytes(CONTENT, f"{root}/a.bin")
    return f"{root}/a.bin"


def test_parts_are_read_in_any_order(url: str) -> None:
    with storage.open_reader(url) as reader:
        assert reader.size == len(CONTENT)
        assert reader.read(300, 10) == CONTENT[300:310]
        assert reader.read(0, 5) == CONTENT[:5]
        assert reader.read(len(CONTENT) - 3, 10) == CONTENT[-3:]
        assert reader.read(len(CONTENT), 10) == b""


def test_reader_of_a_missing_file_raises_file_missing(url: str) -> None:
    with pytest.raises(FileMissing):
        storage.open_reader(url + ".gone")


def test_reader_of_a_file_that_is_not_regular_raises_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(NotAFile, match="not a regular file"):
            storage.open_reader(f"file://{path}")
