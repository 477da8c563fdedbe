"""The home folder of a system is hidden from its tools."""

import json
import sys
from pathlib import Path

import pytest

from pilot.settings import PilotSettings
from sluice.embedded.hidden_home import VisibleHomeError, require_hidden, storage_places
from sluice.pilot_launchers.local_process import LocalPilot


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder on the search path that contains a bubblewrap."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "bwrap").touch(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.delenv("SLUICE_PILOT_SANDBOX", raising=False)
    return folder


def test_home_in_a_folder_with_programs_is_refused(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for home in (programs / "home", Path(sys.prefix, "home")):
        with pytest.raises(VisibleHomeError, match=r"choose another one \(--home\)"):
            require_hidden(home.resolve())
    added = tmp_path / "added"
    added.mkdir()
    require_hidden(added / "home")
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX_PATHS", json.dumps([str(added)]))
    with pytest.raises(VisibleHomeError):
        require_hidden(added / "home")
    require_hidden(Path("/opt/home"))  # the pilots mask this folder
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX", "off")
    require_hidden(programs / "home")


def test_storages_added_later_are_hidden_or_refused_if_tools_can_see_them(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only an existing folder can be hidden."""
    added, beside = tmp_path / "added", tmp_path / "beside"
    for folder in (added / "store", beside):
        folder.mkdir(parents=True)
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX_PATHS", json.dumps([str(added)]))
    roots = [f"file://{path}" for path in (added / "store", added / "later", beside, added)]
    places = storage_places(tmp_path / "home", [*roots, "s3://bucket"])
    assert places.hidden_folders == [added / "store"]
    assert {str(added), str(added / "later"), str(programs)} <= {*places.excluded_folders}
    assert not {str(beside), str(added / "store")} & {*places.excluded_folders}
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX", "off")
    assert storage_places(tmp_path / "home", roots).excluded_folders == []


def test_pilots_of_a_system_hide_its_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX_HIDDEN", '["/storage"]')
    pilot = LocalPilot(
        "one",
        "http://127.0.0.1:1",
        None,
        tmp_path / "pilots" / "one",
        tmp_path / "log",
        token=Path("/etc/token"),
        hidden_folders=(tmp_path, Path("/opt/storage")),
    )
    for name, value in pilot.environment.items():
        monkeypatch.setenv(name, value)
    assert PilotSettings().hidden == [
        tmp_path / "pilots" / "one",
        Path("/etc/token"),
        Path("/storage"),
        tmp_path,
        Path("/opt/storage"),
    ]
