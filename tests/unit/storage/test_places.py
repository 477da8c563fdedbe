"""Tests that no URL that counts as inside a storage names a file outside its root (last part of
invariant 4)."""

from pathlib import Path

import pytest

from sluice.storage import (
    OutsideStorage,
    build_local_url,
    find_local_path,
    is_within,
    require_within,
)


@pytest.mark.parametrize(
    "relative",
    [
        "a.dat",
        "run 1/a b.dat",
        "a/../b.dat",
        "100%.dat",
        "a%20b.dat",
        "...",
        ".hidden",
        "naïve/ß.dat",
        "x..y",
        "a#b?c=d",
    ],
)
def test_paths_below_the_root_are_inside(tmp_path: Path, relative: str) -> None:
    assert is_within(build_local_url(tmp_path), f"{build_local_url(tmp_path)}/{relative}")


@pytest.mark.parametrize(
    "relative",
    [
        "..",
        "../x",
        "a/../../x",
        "%2e%2e/x",
        "%2E%2e%2Fx",
        "%252e%252e/x",
        "%25252e%25252e/x",
        "..\\x",
        "",
        ".",
        "/etc/passwd",
        "a\x00b",
    ],
)
def test_paths_that_leave_the_root_are_outside(tmp_path: Path, relative: str) -> None:
    root = tmp_path / "storage"
    root.mkdir()
    assert not is_within(build_local_url(root), f"{build_local_url(root)}/{relative}")


def test_sibling_folder_with_the_same_prefix_is_outside(tmp_path: Path) -> None:
    assert not is_within(f"file://{tmp_path}/a", f"file://{tmp_path}/ab/x")


def test_symbolic_link_out_of_the_storage_is_outside(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    (other / "secret").write_text("x")
    (root / "door").symlink_to(other)
    (root / "file").symlink_to(other / "secret")
    assert not is_within(build_local_url(root), f"{build_local_url(root)}/door/secret")
    assert not is_within(build_local_url(root), f"{build_local_url(root)}/file")
    with pytest.raises(OutsideStorage) as caught:
        require_within(build_local_url(root), f"{build_local_url(root)}/file")
    assert caught.value.storage_url == build_local_url(root)


def test_files_of_a_storage_behind_a_link_are_inside(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "storage").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "a").write_text("x")
    assert is_within(f"file://{tmp_path}/storage", f"file://{tmp_path}/storage/a")


def test_urls_of_other_protocols_and_buckets_are_outside() -> None:
    assert is_within("s3://bucket/in", "s3://bucket/in/a")
    assert not is_within("s3://bucket/in", "s3://other/in/a")
    assert not is_within("s3://bucket/in", "file:///bucket/in/a")


def test_local_paths_are_not_percent_decoded() -> None:
    assert find_local_path("file:///a%20b") == "/a%20b"
    assert find_local_path("file://localhost/a") == "/a"
    assert find_local_path("file://server/a") is None
    assert find_local_path("s3://a/b") is None
