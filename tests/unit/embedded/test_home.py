"""Who has a home folder."""

import fcntl
import json
import os
import stat
from pathlib import Path

import pytest

from sluice.embedded.home import Home, HomeBusy


def test_it_is_had_from_the_start_and_runs_once_it_answers(tmp_path: Path) -> None:
    mine, other = Home(tmp_path), Home(tmp_path)
    mine.open()
    owner = other.owner()
    assert owner is not None
    assert (owner.pid, owner.url) == (os.getpid(), "")
    assert other.running() is None
    with pytest.raises(HomeBusy, match=rf"a system \(process {os.getpid()}\) is starting"):
        other.open()
    mine.announce("http://here")
    running = other.running()
    assert running is not None
    assert running.url == "http://here"
    with pytest.raises(HomeBusy, match="already runs at http://here"):
        other.open()
    mine.close()
    assert other.owner() is None


def test_a_killed_systems_id_may_be_somebody_elses_by_now(tmp_path: Path) -> None:
    """This process is not the system, and must not be stopped for it."""
    home = Home(tmp_path)
    home.open()
    home.close()
    (tmp_path / "system.json").write_text(
        json.dumps({"pid": os.getpid(), "url": "http://here", "started_at": ""})
    )
    assert (home.owner(), home.running()) == (None, None)


def test_who_could_not_have_it_leaves_it_alone(tmp_path: Path) -> None:
    mine, other = Home(tmp_path), Home(tmp_path)
    mine.open()
    with pytest.raises(HomeBusy):
        other.open()
    other.close()
    assert mine.owner() is not None
    mine.close()


def test_process_that_is_no_system_may_hold_the_lock(tmp_path: Path) -> None:
    """Of a release whose lock file everybody could open."""
    home = Home(tmp_path)
    lock = tmp_path / "lock"
    lock.touch(mode=0o644)
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        with pytest.raises(HomeBusy, match=r"a process that is no system has locked .*/lock"):
            home.open()
        assert home.is_locked_by_another()
    assert not home.is_locked_by_another()
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600


def test_new_lock_can_be_opened_by_its_user_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.open()
    assert stat.S_IMODE((home.root / "lock").stat().st_mode) == 0o600
    home.close()


def test_folders_that_release_0_1_0_left_open_are_closed_once(tmp_path: Path) -> None:
    """Who opens them later for others means it."""
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


def test_home_is_no_longer_in_place_when_it_was_removed_or_moved(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert not home.is_in_place()
    home.open()
    assert home.is_in_place()
    home.root.rename(tmp_path / "moved")
    assert not home.is_in_place()
    Home(home.root).open()
    assert not home.is_in_place()
