"""Removal of files and folders of a local storage and of an fsspec storage."""

from pathlib import Path

import pytest

from sluice import storage
from sluice.storage import (
    LinkInPath,
    OutsideStorage,
    local,
)
from tests.unit.storage.stored_content import CONTENT, list_names


def test_remove_returns_whether_the_file_existed(root: str) -> None:
    storage.put_bytes(b"x", f"{root}/sub/a")
    assert storage.remove(f"{root}/sub/a")
    assert not storage.remove(f"{root}/sub/a")
    assert not storage.remove(f"{root}/never/a")


def test_remove_within_removes_only_files_of_the_storage(root: str) -> None:
    for name in ("store/set/a.dat", "other/b.dat"):
        storage.put_bytes(CONTENT, f"{root}/{name}")
    assert storage.remove_within(f"{root}/store", f"{root}/store/set/a.dat")
    assert not storage.remove_within(f"{root}/store", f"{root}/store/set/a.dat")
    for url in (f"{root}/other/b.dat", f"{root}/store/../other/b.dat"):
        with pytest.raises(OutsideStorage):
            storage.remove_within(f"{root}/store", url)
    assert list_names(root) == ["b.dat"]


def test_remove_below_does_not_follow_a_link(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "b.dat").touch()
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "set").symlink_to(tmp_path / "other")
    with pytest.raises(OutsideStorage):
        local.remove_below(
            f"{tmp_path}/store",
            f"file://{tmp_path}/store/set/b.dat",
            storage_url=f"file://{tmp_path}/store",
        )
    assert (tmp_path / "other" / "b.dat").exists()


@pytest.mark.parametrize("root", ["store", "store-by-link"])
def test_remove_within_does_not_follow_links_below_the_storage(tmp_path: Path, root: str) -> None:
    (tmp_path / "store" / "set").mkdir(parents=True)
    (tmp_path / "store-by-link").symlink_to("store")
    kept_file = tmp_path / "store" / "set" / "a.dat"
    kept_file.touch()
    (tmp_path / "store" / "door").symlink_to("set")
    (tmp_path / "store" / "file").symlink_to("set/a.dat")
    url = f"file://{tmp_path}/{root}"
    with pytest.raises(LinkInPath, match="is reached through a link"):
        storage.remove_within(url, f"{url}/door/a.dat")
    assert storage.remove_within(url, f"{url}/file"), "the link is removed and its target is kept"
    assert kept_file.exists()
    assert storage.remove_within(url, f"{url}/set/a.dat"), (
        "links in the path of the storage are allowed"
    )


def test_remove_folder_removes_only_an_empty_folder(root: str) -> None:
    storage.put_bytes(b"x", f"{root}/sub/a")
    assert not storage.remove_folder_within(root, f"{root}/sub")
    assert list_names(root) == ["a"]
    storage.remove(f"{root}/sub/a")
    assert storage.remove_folder_within(root, f"{root}/sub")
    assert storage.remove_folder_within(root, f"{root}/sub")
