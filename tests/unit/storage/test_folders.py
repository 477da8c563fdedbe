"""Tests of how local folders are identified and whether a storage can be used."""

import uuid
from pathlib import Path

import pytest

from sluice.storage import (
    LinkInPath,
    StorageError,
    leads_through_link,
    probe,
    remove_folder_within,
    resolve_folder,
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a folder with ``a/b``, ``ab`` and ``link``, which leads to ``a``."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "ab").mkdir()
    (tmp_path / "link").symlink_to("a")
    return tmp_path


@pytest.mark.parametrize(
    ("outer", "inner", "answer"),
    [
        ("a", "a", True),
        ("a", "a/b", True),
        ("a/b", "a", False),
        ("a", "ab", False),
        ("link", "a", True),
        ("a", "link/b", True),
        ("link", "a/b/../b", True),
        ("a", "link/missing/x", True),
        ("missing", "missing/x", True),
        ("missing", "a", False),
    ],
)
def test_folder_holds_the_folders_below_it(
    tree: Path, outer: str, inner: str, answer: bool
) -> None:
    assert resolve_folder(f"{tree}/{outer}").holds(resolve_folder(f"{tree}/{inner}")) is answer
    assert resolve_folder("/").holds(resolve_folder(f"{tree}/{inner}"))


def test_only_an_existing_folder_has_an_identity(tree: Path) -> None:
    (tree / "file").touch()
    assert (
        resolve_folder(f"{tree}/a").identity == resolve_folder(f"{tree}/link").identity is not None
    )
    assert (
        resolve_folder(f"{tree}/missing").identity
        is resolve_folder(f"{tree}/file").identity
        is None
    )


@pytest.mark.parametrize(
    ("path", "answer"),
    [("b", False), ("b/x", False), ("door", True), ("door/x/y", True), ("b/to", True)],
)
def test_links_count_below_a_storage_and_not_in_the_path_of_the_storage(
    tree: Path, path: str, answer: bool
) -> None:
    (tree / "a" / "door").symlink_to("b")
    (tree / "a" / "b" / "to").symlink_to("nothing")
    for root in ("a", "link", "link/"):
        assert (
            leads_through_link(f"file://{tree}/{root}", f"file://{tree}/{root.rstrip('/')}/{path}")
            is answer
        )
    assert not leads_through_link("s3://b", f"s3://b/{path}")


def test_folder_is_not_removed_through_a_link(tree: Path) -> None:
    (tree / "store").mkdir()
    (tree / "store" / "door").symlink_to(tree / "a")
    (tree / "store" / "inner").symlink_to("real")
    (tree / "store" / "real").mkdir()
    with pytest.raises(StorageError):
        remove_folder_within(f"file://{tree}/store", f"file://{tree}/store/door/b")
    with pytest.raises(LinkInPath):
        remove_folder_within(f"file://{tree}/store", f"file://{tree}/store/inner")
    assert (tree / "a" / "b").is_dir()
    assert (tree / "store" / "real").is_dir()


def test_probe_leaves_a_storage_unchanged(tmp_path: Path) -> None:
    probe(f"file://{tmp_path}", read_only=False)
    assert list(tmp_path.iterdir()) == []
    probe(f"memory://{uuid.uuid4().hex}/a", read_only=False)


def test_probe_does_not_write_to_a_read_only_storage(tmp_path: Path) -> None:
    before = tmp_path.stat().st_mtime_ns
    probe(f"file://{tmp_path}", read_only=True)
    assert tmp_path.stat().st_mtime_ns == before
    probe("file:///proc/self", read_only=True)


@pytest.mark.parametrize(
    ("url", "read_only", "reason"),
    [
        ("file:///proc/self", False, r".+"),
        ("file://{folder}/missing", False, "there is no such folder; make it"),
        ("file://{folder}/missing", True, "there is no such folder; make it"),
        ("file://{folder}/file", True, "there is no such folder; make it"),
        ("memory://{unique}/nothing", True, "there is no such file"),
        ("nonsense://bucket", False, "no driver for this protocol"),
    ],
)
def test_probe_of_a_broken_storage_raises_an_error_with_the_reason(
    tmp_path: Path, url: str, read_only: bool, reason: str
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=reason):
        probe(url.format(folder=tmp_path, unique=uuid.uuid4().hex), read_only=read_only)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
