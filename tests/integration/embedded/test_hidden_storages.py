"""Pilots of a local system hide its storages from tools."""

import json
from pathlib import Path

import psutil
import pytest

from sluice.embedded.home import Home
from sluice.embedded.process import start_detached, stop_system
from sluice.embedded.readiness import require_pilots
from tests.e2e.commands import run_sluice
from tests.e2e.systems import NO_CONTAINERS, open_home_folder

#: An environment variable that only pilots have.
PILOT_NAME = "SLUICE_PILOT_NAME"


def list_hidden_paths(pid: int) -> list[str]:
    """Return the paths that the pilot of a system must hide."""
    variables = [child.environ() for child in psutil.Process(pid).children()]
    [hidden] = [each["SLUICE_PILOT_SANDBOX_HIDDEN"] for each in variables if PILOT_NAME in each]
    folders: list[str] = json.loads(hidden)
    return folders


def test_storages_outside_the_home_are_hidden_from_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new storage is hidden from the next start, a storage root in visible paths at once."""
    for name, value in NO_CONTAINERS.items():
        monkeypatch.setenv(name, value)
    archive = tmp_path / "archive"
    archive.mkdir()
    later = tmp_path / "shared" / "storages"
    later.mkdir(parents=True)
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX_PATHS", json.dumps([str(later.parent)]))
    with open_home_folder() as home:
        root = ["--storage-root", str(tmp_path)]
        running = start_detached(Home(home), ["--port", "0", "--pilots", "0", *root])
        run_sluice("storage", "add", "archive", "output", archive.as_uri(), "--home", str(home))
        stop_system(running)
        running = start_detached(
            Home(home), ["--port", "0", "--pilots", "1", "--storage-root", str(later)]
        )
        try:
            require_pilots(running.url)
            assert {str(home), str(archive), str(later)} <= {*list_hidden_paths(running.pid)}
        finally:
            stop_system(running)
