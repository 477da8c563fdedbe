"""Tests of the check that only the pilot can write to its work folder, and of its errors."""

import os
from pathlib import Path

import pytest

from pilot.folders.ownership import UnsafeFolderError, make_own_folder
from pilot.folders.pilot_folder import open_folder
from pilot.settings import PilotSettings
from tests.needs import ROOT_RIGHTS

SOMEBODY = 65534


@pytest.fixture
def shared_folder(tmp_path: Path) -> Path:
    """Return a folder where all users may write, like /tmp."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def get_mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_missing_work_folder_is_created_with_mode_0700(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        folder = make_own_folder(tmp_path / "a" / "b")
    finally:
        os.umask(umask)
    assert folder == (tmp_path / "a" / "b").resolve()
    assert (get_mode(tmp_path / "a"), get_mode(folder)) == (0o700, 0o700)


def test_existing_pilot_folder_is_closed_and_its_parent_is_left_alone(tmp_path: Path) -> None:
    work, folder = tmp_path / "work", tmp_path / "work" / "node-1"
    folder.mkdir(parents=True)
    work.chmod(0o755)
    folder.chmod(0o755)
    opened = open_folder(folder, patience=0)
    opened.close()
    assert (get_mode(work), get_mode(folder)) == (0o755, 0o700)


def test_work_folder_may_lie_in_a_shared_folder_with_a_sticky_bit(shared_folder: Path) -> None:
    assert make_own_folder(shared_folder / "mine" / "more").is_dir()


def test_link_that_the_pilot_owns_is_followed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    assert make_own_folder(tmp_path / "link" / "work") == (tmp_path / "disk" / "work").resolve()


def test_folders_on_the_path_of_a_link_target_are_checked(tmp_path: Path) -> None:
    """Another user could replace the target of the link."""
    (tmp_path / "open" / "disk").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "open" / "disk")
    with pytest.raises(UnsafeFolderError, match="can be replaced by anybody"):
        make_own_folder(tmp_path / "link" / "work")


@pytest.mark.parametrize("folder_mode", [0o720, 0o702, 0o777, 0o1777])
def test_work_folder_that_others_can_write_to_is_refused(tmp_path: Path, folder_mode: int) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work").chmod(folder_mode)
    with pytest.raises(
        UnsafeFolderError, match=rf"mode {folder_mode:o}.*--work-dir, SLUICE_PILOT_WORK_DIR"
    ):
        make_own_folder(tmp_path / "work")


def test_work_folder_in_a_shared_folder_without_a_sticky_bit_is_refused(
    shared_folder: Path,
) -> None:
    shared_folder.chmod(0o777)
    with pytest.raises(
        UnsafeFolderError, match=r"everybody may write to .*shared, which has no sticky bit"
    ):
        make_own_folder(shared_folder / "mine" / "work")


def test_work_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "work").touch()
    with pytest.raises(UnsafeFolderError, match=r"is not a folder"):
        make_own_folder(tmp_path / "work")
    with pytest.raises(UnsafeFolderError, match=r"cannot be used: Not a directory"):
        make_own_folder(tmp_path / "work" / "inner")


def test_dangling_link_is_refused_and_its_target_is_not_created(tmp_path: Path) -> None:
    (tmp_path / "work").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeFolderError):
        make_own_folder(tmp_path / "work")
    assert not (tmp_path / "elsewhere").exists()


def test_work_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    folder_of_other_user = Path("/")  # It belongs to root, if the tests run as another user.
    if os.geteuid() == 0:
        folder_of_other_user = tmp_path / "work"
        folder_of_other_user.mkdir(mode=0o700)
        os.chown(folder_of_other_user, SOMEBODY, SOMEBODY)
    with pytest.raises(UnsafeFolderError, match=r"belongs to user (nobody|root)"):
        make_own_folder(folder_of_other_user)


@pytest.mark.needs(ROOT_RIGHTS)
@pytest.mark.parametrize("entry", ["folder", "link"])
def test_entry_of_another_user_in_a_shared_folder_is_refused(
    tmp_path: Path, shared_folder: Path, entry: str
) -> None:
    if entry == "folder":
        (shared_folder / "work" / "node-1").mkdir(parents=True, mode=0o700)
    else:
        (tmp_path / "mine" / "node-1").mkdir(parents=True, mode=0o700)
        (shared_folder / "work").symlink_to(tmp_path / "mine")
    os.lchown(shared_folder / "work", SOMEBODY, SOMEBODY)
    with pytest.raises(
        UnsafeFolderError, match=r"was put into .*shared, where everybody may write, by user nobody"
    ):
        make_own_folder(shared_folder / "work" / "node-1")


def test_default_work_folder_lies_in_the_home_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SLUICE_PILOT_WORK_DIR", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert PilotSettings().work_dir.is_relative_to(tmp_path)
    monkeypatch.setenv("SLUICE_PILOT_WORK_DIR", "~/jobs")
    assert PilotSettings().work_dir == tmp_path / "jobs"
