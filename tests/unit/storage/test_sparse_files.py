"""Tests that sparse files stay sparse when Sluice copies them, and that holes count as zeros in
checksums."""

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pytest

from pilot.runner.attempts.entries import store_open_file
from pilot.runner.files.job_files import OpenJobFile
from sluice import cwl_values, storage
from sluice.storage import StoredFile

MB = 1 << 20
GB = 1 << 30
DATA = b"hit " * 1024
#: Offsets of the data in files of 8 MB.
PLACES = {
    "at the start": [0],
    "in the middle": [3 * MB + 5],
    "at the end": [8 * MB - len(DATA)],
    "in two places": [MB, 5 * MB],
    "nowhere": [],
}


def write_sparse(path: Path, size: int, places: list[int]) -> Path:
    with path.open("xb") as file:
        for place in places:
            file.seek(place)
            file.write(DATA)
        file.truncate(size)
    assert count_blocks(path) <= 64, (
        "this file system has no sparse files: set TMPDIR to another one"
    )
    return path


def count_blocks(path: Path) -> int:
    return path.stat().st_blocks


def _put(source: Path, target: Path) -> None:
    storage.put(source, storage.build_local_url(str(target)))


def _put_open(source: Path, target: Path) -> None:
    with source.open("rb") as file:
        storage.put_open(file.fileno(), storage.build_local_url(str(target)))


def _copy(source: Path, target: Path) -> None:
    url = storage.build_local_url(str(target))
    storage.copy(storage.build_local_url(str(source)), url, checksum=None, size=None)


def _fetch(source: Path, target: Path) -> None:
    url = storage.build_local_url(str(source))
    storage.fetch(url, target, checksum=None, size=None, copied_bytes=2 * GB)


def _fetch_over_another(source: Path, target: Path) -> None:
    target.write_bytes(b"x" * 9 * MB)
    url = storage.build_local_url(str(source))
    storage.fetch(url, target, checksum=None, size=None, copied_bytes=2 * GB, reuse=True)


def _keep_aside(source: Path, target: Path) -> None:
    with source.open("rb") as file:
        store_open_file(OpenJobFile(file.fileno(), is_movable=False), str(target))


def _store_bundle(source: Path, target: Path) -> None:
    archive = target.with_name("bundle.tar")
    cwl_values.pack({"class": "File", "path": str(source)}, archive)
    assert count_blocks(archive) <= 512
    value = cwl_values.unpack(archive, target.with_name("unpacked"))
    os.rename(storage.parse_location(value["location"]), target)


def _fetch_remote(source: Path, target: Path) -> None:
    url = f"memory://{uuid4().hex}"
    storage.put(source, url)
    storage.fetch(url, target, checksum=None, size=None)


WAYS = [
    _fetch_remote,
    _put,
    _put_open,
    _copy,
    _fetch,
    _fetch_over_another,
    _keep_aside,
    _store_bundle,
]


@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("way", WAYS)
def test_copy_has_the_content_and_the_holes_of_a_sparse_file(
    way: Callable[[Path, Path], None], places: list[int], tmp_path: Path
) -> None:
    source, target = write_sparse(tmp_path / "source", 8 * MB, places), tmp_path / "target"
    way(source, target)
    assert target.read_bytes() == source.read_bytes()
    assert count_blocks(target) <= 4096, "a full file would have 16 384 blocks"


def test_large_sparse_file_takes_little_space_on_a_storage(tmp_path: Path) -> None:
    source = write_sparse(tmp_path / "source", GB // 4, [GB // 8])
    stored = storage.put(source, storage.build_local_url(str(tmp_path / "target")))
    with source.open("rb") as file:
        digest = sha256()
        while data := file.read(MB):
            digest.update(data)
    assert stored == StoredFile(GB // 4, f"sha256:{digest.hexdigest()}")
    assert count_blocks(tmp_path / "target") <= 256


def test_put_of_a_long_hole_can_be_interrupted(tmp_path: Path) -> None:
    source = write_sparse(tmp_path / "source", 8 * MB, [])
    checks: list[None] = []

    def check() -> None:
        checks.append(None)
        if len(checks) == 3:
            raise NotImplementedError

    with pytest.raises(NotImplementedError):
        storage.put(source, storage.build_local_url(str(tmp_path / "target")), check=check)
    assert len(checks) == 3
    assert os.listdir(tmp_path) == ["source"]
