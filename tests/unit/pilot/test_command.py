"""The pilot's command line."""

import json
import tempfile
from pathlib import Path

import pytest
from pydantic import ValidationError

from pilot.command import main
from pilot.settings import PilotSettings
from sluice.contracts.wording import sentence_of


def test_wrong_settings_are_said_in_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_PILOT_CORES", "none")
    assert main(["--wms-url", "http://127.0.0.1:1", "--name", "farm/1"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("sluice-pilot: --name: 'farm/1' has '/': a name has letters")
    assert said[1].startswith("sluice-pilot: SLUICE_PILOT_CORES: Input should be a valid number")
    assert len(said) == 2


def test_a_list_that_is_none_is_said_in_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX_PATHS", "/software")
    assert main([]) == 2
    [said] = capsys.readouterr().err.splitlines()
    assert 'field "sandbox_paths": it is not JSON' in said
    assert said.endswith("""a list is written so: '["one", "two"]'""")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("software", "it is no absolute path: give one"),
        ("/no/software", "No such file or directory on this node: mount or make it, or take it"),
        ("{tmp}", "it lies where each job has files of its own: move it elsewhere"),
        ("/proc/self/status", "it lies where each job has files of its own"),
        ("{home}/link", "it leads to {tmp}, which lies where each job has files of its own"),
        ("{home}/work/software", "it lies in the pilot's work folder: move it"),
    ],
)
def test_a_path_that_tools_would_not_see_is_refused(
    monkeypatch: pytest.MonkeyPatch, path: str, why: str
) -> None:
    """With its setting and what to do."""
    with (
        tempfile.TemporaryDirectory(dir="/tmp") as covered,
        tempfile.TemporaryDirectory(dir=Path(__file__).parent) as home,
    ):
        Path(home, "link").symlink_to(covered)
        Path(home, "work", "software").mkdir(parents=True)
        places = {"tmp": covered, "home": home}
        wrong = path.format(**places)
        monkeypatch.setenv("SLUICE_PILOT_SANDBOX_PATHS", json.dumps(["/usr", wrong]))
        with pytest.raises(ValidationError) as refused:
            PilotSettings(work_dir=Path(home, "work"))
    [error] = refused.value.errors()
    assert error["loc"] == ("sandbox_paths",)
    assert sentence_of(error).startswith(f"tools would not see {wrong}: {why.format(**places)}")


def test_paths_that_tools_see_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And any where there is no sandbox."""
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX_PATHS", '["/usr/share", "/etc/hosts"]')
    assert len(PilotSettings(work_dir=tmp_path).sandbox_paths) == 2
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX_PATHS", '["/no/software"]')
    assert PilotSettings(work_dir=tmp_path, sandbox="off").sandbox_paths == [Path("/no/software")]
