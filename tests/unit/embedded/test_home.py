"""Ownership of a home folder."""

import fcntl
import json
import os
import stat
from pathlib import Path

import pytest

from sluice.embedded.home import Home, HomeInUse


def test_home_is_owned_from_the_start_and_running_once_announced(tmp_path: Path) -> None:
    mine, other = Home(tmp_path), Home(tmp_path)
    mine.open()
    owner = other.owner()
    assert owner is not None
    assert (owner.pid, owner.url) == (os.getpid(), "")
    assert other.running() is None
    with pytest.raises(HomeInUse, match=rf"a system \(process {os.getpid()}\) is starting"):
        other.open()
    mine.announce("http://here")
    running = other.running()
    assert running is not None
    assert running.url == "http://here"
    with pytest.raises(HomeInUse, match="already runs at http://here"):
        other.open()
    mine.close()
    assert other.owner() is None


def test_process_with_the_id_of_a_killed_system_is_not_its_owner(tmp_path: Path) -> None:
    """Otherwise this process would be stopped as the system."""
    home = Home(tmp_path)
    home.open()
    home.close()
    (tmp_path / "system.json").write_text(
        json.dumps({"pid": os.getpid(), "url": "http://here", "started_at": ""})
    )
    assert (home.owner(), home.running()) == (None, None)


def test_failed_attempt_to_open_a_home_leaves_its_owner_alone(tmp_path: Path) -> None:
    mine, other = Home(tmp_path), Home(tmp_path)
    mine.open()
    with pytest.raises(HomeInUse):
        other.open()
    other.close()
    assert mine.owner() is not None
    mine.close()


def test_lock_held_by_another_process_is_reported(tmp_path: Path) -> None:
    """Lock files of old releases could be opened by every user."""
    home = Home(tmp_path)
    lock = tmp_path / "lock"
    lock.touch(mode=0o644)
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        with pytest.raises(HomeInUse, match=r"a process that is not a system has locked .*/lock"):
            home.open()
        assert home.is_locked_by_another()
    assert not home.is_locked_by_another()
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600


def test_new_lock_file_is_private(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.open()
    assert stat.S_IMODE((home.root / "lock").stat().st_mode) == 0o600
    home.close()


def test_open_folders_of_release_0_1_0_are_made_private_once(tmp_path: Path) -> None:
    """An administrator who opens them later does so on purpose."""
    home = Home(tmp_path)
    folders = [home.storages, home.pilots, home.logs]
    for folder in folders:
        folder.mkdir()
        folder.chmod(0o755)
    home.open()
    home.close()
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700] * 3
    home.storages.chmod(0o755)
    home.open()
    home.close()
    assert stat.S_IMODE(home.storages.stat().st_mode) == 0o755
    assert stat.S_IMODE(tmp_path.stat().st_mode) == stat.S_IMODE(tmp_path.parent.stat().st_mode)


def test_removed_or_moved_home_is_not_in_place(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert not home.is_in_place()
    home.open()
    assert home.is_in_place()
    home.root.rename(tmp_path / "moved")
    assert not home.is_in_place()
    Home(home.root).open()
    assert not home.is_in_place()
