"""Tests of each operation on a local storage and on an fsspec storage (the memory file system)."""

import errno
import os
import uuid
from pathlib import Path

import pytest

from sluice import storage
from sluice.storage import (
    ChecksumMismatch,
    FileMissing,
    NotAFile,
    StorageFull,
    StorageUnavailable,
    build_local_url,
)
from sluice.storage.entries import make_temporary_name
from tests.unit.storage.stored_content import CONTENT, compute_checksum, list_names, read_content


def test_fetch_returns_the_content_that_was_put(root: str, source: Path, tmp_path: Path) -> None:
    stored = storage.put(source, f"{root}/deep/er/ü 1.dat")
    assert stored == storage.StoredFile(len(CONTENT), compute_checksum(CONTENT))
    storage.fetch(
        f"{root}/deep/er/ü 1.dat", tmp_path / "back", checksum=stored.checksum, size=stored.size
    )
    assert (tmp_path / "back").read_bytes() == CONTENT
    assert source.exists()
    assert list_names(root) == ["ü 1.dat"]


@pytest.mark.parametrize("name", ["a::b", "a::file:", "[a]", "*", "a;b", "a%41", "~"])
@pytest.mark.parametrize("scheme", ["file", "local"])
def test_special_names_are_literal(scheme: str, source: Path, tmp_path: Path, name: str) -> None:
    """Some of them have a meaning to drivers, shells or URLs. ``local`` is served by a driver."""
    root = f"{scheme}://{tmp_path}/storage"
    storage.put_bytes(b"another's", f"{root}/a")
    stored = storage.put(source, f"{root}/{name}")
    assert sorted(list_names(root)) == sorted(["a", name])
    storage.fetch(f"{root}/{name}", tmp_path / "x", checksum=stored.checksum, size=stored.size)
    assert storage.remove(f"{root}/{name}")
    assert (tmp_path / "storage" / "a").read_bytes() == b"another's"


@pytest.mark.parametrize("may_link", [False, True])
@pytest.mark.parametrize("names", [1, 2])
@pytest.mark.parametrize("there", [False, True], ids=["new", "in place of another"])
def test_put_open_stores_the_open_file_even_if_its_path_is_replaced(
    root: str, source: Path, tmp_path: Path, *, may_link: bool, names: int, there: bool
) -> None:
    """A file that is given away and has a single name is moved instead of copied."""
    if there:
        storage.put_bytes(b"old", f"{root}/a")
    for number in range(1, names):
        os.link(source, tmp_path / f"name-{number}")
    with source.open("rb") as file:
        source.rename(tmp_path / "moved")
        source.write_bytes(b"other")
        stored = storage.put_open(file.fileno(), f"{root}/a", may_link=may_link)
        own = os.fstat(file.fileno()).st_nlink == names
    assert stored == storage.StoredFile(len(CONTENT), compute_checksum(CONTENT))
    assert read_content(f"{root}/a") == CONTENT
    assert own is not (may_link and names == 1 and not there and root.startswith("file://"))


def test_put_of_a_link_writes_the_content(root: str, source: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(source)
    storage.put(link, f"{root}/a")
    source.unlink()
    assert read_content(f"{root}/a") == CONTENT


def test_put_replaces_an_existing_file(root: str, source: Path) -> None:
    storage.put_bytes(b"old", f"{root}/a")
    storage.put(source, f"{root}/a")
    assert read_content(f"{root}/a") == CONTENT


def test_verify_refuses_changed_content_and_a_missing_file(root: str) -> None:
    storage.put_bytes(CONTENT, f"{root}/a")
    for expected, size in (
        (compute_checksum(b"other"), len(CONTENT)),
        (compute_checksum(CONTENT), 1),
    ):
        with pytest.raises(ChecksumMismatch):
            storage.verify(f"{root}/a", checksum=expected, size=size)
    with pytest.raises(FileMissing):
        storage.verify(f"{root}/no", checksum=compute_checksum(CONTENT), size=len(CONTENT))


def test_put_of_a_missing_file_raises_file_missing(root: str, tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        storage.put(tmp_path / "nothing", f"{root}/a")
    assert list_names(root) == []


@pytest.mark.parametrize(
    "after",
    [0, 1, 2, 3],
    ids=["before all", "while it is read", "while it is read back", "at its end"],
)
def test_interrupted_put_leaves_no_files(root: str, source: Path, after: int) -> None:
    calls: list[int] = []

    class NobodyWaits(Exception): ...

    def check() -> None:
        calls.append(1)
        if len(calls) > after:
            raise NobodyWaits

    if after >= 2 and root.startswith("memory"):  # Reading a remote file back has no checks.
        assert storage.put(source, f"{root}/a", check=check).size == len(CONTENT)
        return
    with pytest.raises((NobodyWaits, StorageUnavailable)):
        storage.put(source, f"{root}/a", check=check)
    assert list_names(root) == []


def test_put_bytes_stores_the_content(root: str) -> None:
    assert storage.put_bytes(b"log", f"{root}/logs/1.log") == storage.StoredFile(
        3, compute_checksum(b"log")
    )
    assert list_names(root) == ["1.log"]


def test_fetch_of_a_missing_file_raises_file_missing(root: str, tmp_path: Path) -> None:
    with pytest.raises(FileMissing) as caught:
        storage.fetch(f"{root}/no", tmp_path / "to", checksum=None, size=None)
    assert caught.value.url == f"{root}/no"


def test_fetch_of_changed_content_leaves_no_files(root: str, tmp_path: Path) -> None:
    storage.put_bytes(b"changed", f"{root}/a")
    target = tmp_path / "work" / "a"
    target.parent.mkdir()
    with pytest.raises(ChecksumMismatch) as caught:
        storage.fetch(f"{root}/a", target, checksum=compute_checksum(b"written"), size=7)
    assert (caught.value.expected, caught.value.actual) == (
        compute_checksum(b"written"),
        compute_checksum(b"changed"),
    )
    with pytest.raises(ChecksumMismatch, match="expected 3 bytes, found 7 bytes"):
        storage.fetch(f"{root}/a", target, checksum=None, size=3)
    assert list(target.parent.iterdir()) == []


def test_fetch_replaces_an_existing_file(root: str, tmp_path: Path) -> None:
    storage.put_bytes(b"new", f"{root}/a")
    (tmp_path / "to").write_text("old")
    storage.fetch(f"{root}/a", tmp_path / "to", checksum=None, size=None)
    assert (tmp_path / "to").read_bytes() == b"new"


def test_copy_verifies_the_content_and_can_be_repeated(root: str) -> None:
    storage.put_bytes(CONTENT, f"{root}/a")
    for _ in range(2):
        stored = storage.copy(
            f"{root}/a", f"{root}/out/b", checksum=compute_checksum(CONTENT), size=len(CONTENT)
        )
        assert stored == storage.StoredFile(len(CONTENT), compute_checksum(CONTENT))
    assert list_names(root) == ["a", "b"]


def test_copy_overwrites_a_wrong_target(root: str) -> None:
    storage.put_bytes(b"right", f"{root}/a")
    storage.put_bytes(b"wrong", f"{root}/b")
    storage.copy(f"{root}/a", f"{root}/b", checksum=compute_checksum(b"right"), size=5)
    assert read_content(f"{root}/b") == b"right"


def test_copy_of_damaged_source_leaves_no_target(root: str) -> None:
    storage.put_bytes(b"damaged", f"{root}/a")
    with pytest.raises(ChecksumMismatch) as caught:
        storage.copy(f"{root}/a", f"{root}/b", checksum=compute_checksum(b"written"), size=7)
    assert caught.value.url == f"{root}/a"
    assert list_names(root) == ["a"]


def test_copy_of_a_missing_source_names_the_source(root: str) -> None:
    with pytest.raises(FileMissing) as caught:
        storage.copy(f"{root}/no", f"{root}/b", checksum=None, size=None)
    assert caught.value.url == f"{root}/no"


def test_copy_between_local_and_remote_keeps_the_content(tmp_path: Path, source: Path) -> None:
    away, home = f"memory://{uuid.uuid4().hex}/a", f"file://{tmp_path}/home/a"
    storage.copy(f"file://{source}", away, checksum=compute_checksum(CONTENT), size=len(CONTENT))
    storage.copy(away, home, checksum=compute_checksum(CONTENT), size=len(CONTENT))
    assert (read_content(away), read_content(home)) == (CONTENT, CONTENT)


def test_entries_lists_all_files_of_a_tree(root: str) -> None:
    for name in ("b", "sub/a", "sub/deep/c d"):
        storage.put_bytes(name.encode(), f"{root}/{name}")
    entries = storage.list_entries(root)
    assert sorted(entry.url for entry in entries) == sorted(
        f"{root}/{name}" for name in ("b", "sub/a", "sub/deep/c d")
    )
    assert {entry.name: entry.size for entry in entries} == {"b": 1, "a": 5, "c d": 12}
    assert all(entry.modified.tzinfo is not None for entry in entries)
    assert storage.list_entries(f"{root}/nowhere") == []


@pytest.mark.parametrize("scheme", ["file", "local"])
def test_file_url_with_a_relative_path_is_refused(
    scheme: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    url = f"{scheme}://storage/a.dat"
    for operation in (
        lambda: storage.put(source, url),
        lambda: storage.put_bytes(b"x", url),
        lambda: storage.copy(build_local_url(source), url, checksum=None, size=None),
        lambda: storage.fetch(url, "back", checksum=None, size=None),
        lambda: storage.open_reader(url),
        lambda: storage.list_entries(url),
        lambda: storage.remove(url),
    ):
        with pytest.raises(NotAFile, match="no absolute path"):
            operation()
    assert list(tmp_path.iterdir()) == [source]


def test_unknown_protocol_raises_storage_unavailable() -> None:
    with pytest.raises(StorageUnavailable, match="no driver for this protocol"):
        storage.remove("nosuch://x/y")


def test_put_on_a_full_disk_raises_storage_full_and_leaves_no_files(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StorageFull):
        storage.put(source, f"file://{tmp_path}/storage/a")
    assert list((tmp_path / "storage").iterdir()) == []


def test_put_below_a_file_raises_storage_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageUnavailable):
        storage.put_bytes(b"x", f"file://{tmp_path}/file/below")


def test_checksum_of_returns_the_sha256_digest_of_a_file(source: Path) -> None:
    assert storage.compute_checksum(source) == compute_checksum(CONTENT)
    with pytest.raises(FileMissing):
        storage.compute_checksum(source.with_name("no"))


def test_temporary_files_are_recognized(root: str) -> None:
    storage.put_bytes(b"x", f"{root}/{make_temporary_name()}")
    assert [storage.is_temporary(name) for name in list_names(root)] == [True]
    assert not storage.is_temporary("a.part")


def test_fetch_copies_small_files_and_links_large_ones(
    root: str, source: Path, tmp_path: Path
) -> None:
    stored = storage.put(source, f"{root}/a")
    back = tmp_path / "back"
    for most, linked in ((len(CONTENT) - 1, root.startswith("file://")), (len(CONTENT), False)):
        was_linked = storage.fetch(
            f"{root}/a", back, checksum=stored.checksum, size=stored.size, copied_bytes=most
        )
        assert (was_linked, back.read_bytes()) == (linked, CONTENT)
        assert (back.stat().st_nlink > 1) is linked
    back.write_bytes(b"changed")
    assert read_content(f"{root}/a") == CONTENT


def test_fetch_deletes_a_copy_with_wrong_checksum(root: str, source: Path, tmp_path: Path) -> None:
    storage.put(source, f"{root}/a")
    with pytest.raises(ChecksumMismatch):
        storage.fetch(
            f"{root}/a",
            tmp_path / "back",
            checksum=compute_checksum(b"other"),
            size=None,
            copied_bytes=1 << 20,
        )
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize("before", [b"", b"short", CONTENT * 2], ids=["empty", "shorter", "longer"])
def test_fetch_can_overwrite_an_existing_file_in_place(
    root: str, source: Path, tmp_path: Path, before: bytes
) -> None:
    stored = storage.put(source, f"{root}/f.dat")
    (to := tmp_path / "copy").write_bytes(before)
    size = stored.size
    storage.fetch(
        f"{root}/f.dat", to, checksum=stored.checksum, size=size, copied_bytes=size, reuse=True
    )
    assert to.read_bytes() == CONTENT


def test_copies_keep_the_executable_permission(tmp_path: Path, source: Path) -> None:
    source.chmod(0o755)
    for number, path in enumerate((source, tmp_path / "plain")):
        path.write_bytes(CONTENT)
        urls = [f"file://{tmp_path}/storage/{number}-{place}" for place in ("put", "copied")]
        stored = storage.put(path, urls[0])
        storage.copy(urls[0], urls[1], checksum=stored.checksum, size=stored.size)
        storage.fetch(
            urls[1],
            tmp_path / "back",
            checksum=stored.checksum,
            size=stored.size,
            copied_bytes=1 << 20,
        )
        copies = [*(Path(url.removeprefix("file://")) for url in urls), tmp_path / "back"]
        modes = {copy.stat().st_mode & 0o777 for copy in copies}
        assert modes == {0o755 if path == source else 0o644}
