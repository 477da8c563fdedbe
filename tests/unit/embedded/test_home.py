"""Who has a home folder."""

import json
import os
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
