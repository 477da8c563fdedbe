"""Tests of the cache of asset files on a node: files are verified, limited in size and never
changed."""

import fcntl
import hashlib
import multiprocessing
import os
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from pilot.runner.failures import AttemptError
from pilot.runner.files.asset_cache import AssetCache
from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.data.asset_refs import MARK
from sluice.contracts.jobs.job_inputs import InputFile
from tests.unit.pilot.builders import make_job, make_task, make_tool, write_input
from tests.unit.pilot.slot_runner import Runner


def write_asset(path: Path, data: bytes) -> InputFile:
    return write_input(path, data=data).model_copy(update={"meta": {MARK: "model@1"}})


def list_cached_files(cache: AssetCache) -> set[str]:
    return {name for name in os.listdir(f"{cache.folder}/files") if not name.endswith(".verified")}


def get_name(file: InputFile) -> str:
    return file.checksum.removeprefix("sha256:")


def test_asset_file_is_fetched_once_and_jobs_get_links(tmp_path: Path) -> None:
    cache, file = AssetCache(str(tmp_path / "cache"), 100), write_asset(tmp_path / "m", b"model")
    assert cache.link_file(file, str(tmp_path / "one"))
    Path(file.url.removeprefix("file://")).unlink()
    assert cache.link_file(file, str(tmp_path / "two")), "the file is in the cache"
    assert (tmp_path / "two").read_bytes() == b"model"
    assert os.path.samefile(tmp_path / "one", tmp_path / "two")
    assert os.stat(tmp_path / "two").st_mode & 0o777 == 0o444


def test_changed_asset_file_is_fetched_again(tmp_path: Path) -> None:
    cache, file = AssetCache(str(tmp_path / "cache"), 100), write_asset(tmp_path / "m", b"model")
    assert cache.link_file(file, str(tmp_path / "one"))
    os.chmod(tmp_path / "one", 0o644)
    (tmp_path / "one").write_bytes(b"bad!!")
    assert cache.link_file(file, str(tmp_path / "two"))
    assert (tmp_path / "two").read_bytes() == b"model"


def test_asset_file_with_a_wrong_checksum_is_not_kept(tmp_path: Path) -> None:
    cache, file = AssetCache(str(tmp_path / "cache"), 100), write_asset(tmp_path / "m", b"model")
    (tmp_path / "m").write_bytes(b"other")
    with pytest.raises(AttemptError) as refused:
        cache.link_file(file, str(tmp_path / "one"))
    assert refused.value.error_class is ErrorClass.CHECKSUM_MISMATCH
    assert not list_cached_files(cache)
    assert not (tmp_path / "one").exists()


def test_least_recently_used_asset_file_is_removed_unless_it_is_in_use(tmp_path: Path) -> None:
    cache = AssetCache(str(tmp_path / "cache"), 10)
    files = [write_asset(tmp_path / f"m{number}", bytes([number]) * 4) for number in range(4)]
    for number, file in enumerate(files[:2]):
        assert cache.link_file(file, str(tmp_path / f"job{number}"))
        os.utime(f"{cache.folder}/files/{get_name(file)}.verified", (number, number))
    (tmp_path / "job1").unlink()
    assert cache.link_file(files[2], str(tmp_path / "job2"))
    assert list_cached_files(cache) == {get_name(files[0]), get_name(files[2])}, (
        "the first file is in use"
    )
    assert not cache.link_file(files[3], str(tmp_path / "job3")), (
        "all files of the cache are in use"
    )
    assert not cache.link_file(write_asset(tmp_path / "large", b"x" * 11), str(tmp_path / "job4"))
    (tmp_path / "job0").unlink()
    assert cache.link_file(files[3], str(tmp_path / "job3"))
    assert list_cached_files(cache) == {get_name(files[2]), get_name(files[3])}


def test_asset_file_that_a_job_is_getting_is_not_removed(tmp_path: Path) -> None:
    cache = AssetCache(str(tmp_path / "cache"), 10)
    first, second = write_asset(tmp_path / "a", b"1234567"), write_asset(tmp_path / "b", b"abcdefg")
    assert cache.link_file(first, str(tmp_path / "one"))
    (tmp_path / "one").unlink()
    with open(f"{cache.folder}/locks/{get_name(first)}", "rb") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        assert not cache.link_file(second, str(tmp_path / "two"))
    assert list_cached_files(cache) == {get_name(first)}
    assert cache.link_file(second, str(tmp_path / "two"))
    assert list_cached_files(cache) == {get_name(second)}


def test_incomplete_file_of_a_killed_process_takes_no_space(tmp_path: Path) -> None:
    cache, file = AssetCache(str(tmp_path / "cache"), 10), write_asset(tmp_path / "m", b"x" * 8)
    incomplete_file = Path(cache.folder) / "files" / ("0" * 64)
    incomplete_file.parent.mkdir(parents=True)
    (incomplete_file.parent.parent / "locks").mkdir()
    incomplete_file.with_name(incomplete_file.name + ".coming").write_text("8")
    incomplete_file.with_name(incomplete_file.name + ".part").write_bytes(b"half")
    assert cache.link_file(file, str(tmp_path / "one"))
    assert list_cached_files(cache) == {get_name(file)}


def _stage_file(cache: AssetCache, file: InputFile, path: str, start: Barrier) -> None:
    start.wait()
    if not cache.link_file(file, path):
        raise SystemExit(1)


def test_concurrent_requests_fetch_an_asset_file_once(tmp_path: Path) -> None:
    """All jobs share an inode, which shows that only one process has fetched the file."""
    data, cache = os.urandom(4 << 20), AssetCache(str(tmp_path / "cache"), 5 << 20)
    file = write_asset(tmp_path / "m", data)
    start = multiprocessing.Barrier(4)
    paths = [tmp_path / f"job{number}" for number in range(4)]
    workers = [
        multiprocessing.Process(
            target=_stage_file,
            args=(cache, file, str(path), start),
        )
        for path in paths
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert len({os.stat(path).st_ino for path in paths}) == 1
    assert hashlib.sha256(paths[0].read_bytes()).digest() == hashlib.sha256(data).digest()


CONFIGURED = make_tool(
    ["cat"],
    inputs={
        "f": {"type": "File"},
        "config": {"type": "Directory"},
        "model": {"type": "File"},
        "all": {"type": "File[]"},
    },
    arguments=["$(inputs.config.path)/config.ini", "$(inputs.config.path)/words/cs.txt",
               "$(inputs.model)", "$(inputs.all)"],
)  # fmt: skip


def test_tool_gets_assets_as_a_folder_a_list_and_a_file(tmp_path: Path, root: Path) -> None:
    files = {
        "config": {"config.ini": b"c", "words%2Fcs.txt": b"w"},
        "model": {"model.pt": b"m"},
        "all": {"1": b"1", "2": b"2"},
    }
    shared = [
        write_asset(root / "assets" / name, data).model_copy(update={"port": port})
        for port, contents in files.items()
        for name, data in contents.items()
    ]
    settings = {"assets": str(tmp_path / "cache"), "asset_cache": 100}
    runner = Runner(
        tmp_path / "node", environment={"PYTHONPATH": str(Path.cwd())}, settings=settings
    )
    try:
        task_ = make_task(root, CONFIGURED, side_ports=list(files), shared_inputs=shared,
                     folders={"config": "pero-cz"})  # fmt: skip
        report = runner.attempt(task_, make_job(task_, [write_input(root / "in" / "0.dat")]))
    finally:
        runner.close()
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert (root / "out" / "00000000.1-0.out").read_text() == "cwm12"
    assert len(list_cached_files(AssetCache(str(tmp_path / "cache"), 100))) == 5
