"""Tests that links in a folder of a storage are removed and never followed."""

from pathlib import Path

import pytest

from sluice import storage
from sluice.storage import LinkInPath, build_local_url


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a storage with a folder, beside a folder outside the storage."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").write_text("kept")
    (tmp_path / "storage" / "set").mkdir(parents=True)
    return tmp_path / "storage"


@pytest.mark.parametrize("target", ["elsewhere/kept", "elsewhere", "storage/set", "nothing"])
def test_link_is_removed_wherever_it_leads(root: Path, target: str) -> None:
    link = root / "set" / "link"
    link.symlink_to(root.parent / target)
    assert storage.remove_within(build_local_url(root), build_local_url(root / "set") + "/link")
    assert not link.is_symlink()
    assert (root.parent / "elsewhere" / "kept").read_text() == "kept"


def test_file_behind_a_link_out_of_the_storage_is_not_removed(root: Path) -> None:
    (root / "out").symlink_to(root.parent / "elsewhere")
    with pytest.raises(LinkInPath):
        storage.remove_within(build_local_url(root), f"{build_local_url(root)}/out/kept")
    with pytest.raises(LinkInPath):
        storage.remove_folder_within(build_local_url(root), f"{build_local_url(root)}/out")
    assert (root.parent / "elsewhere" / "kept").read_text() == "kept"


def test_dangling_links_do_not_hide_other_files(root: Path) -> None:
    (root / "set" / "itself").symlink_to("itself")
    (root / "set" / "nothing").symlink_to("gone")
    (root / "set" / "file").write_text("x")
    assert [entry.name for entry in storage.list_entries(build_local_url(root / "set"))] == ["file"]
