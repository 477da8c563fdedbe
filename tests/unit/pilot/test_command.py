"""Tests of the command line of the pilot."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from pydantic import ValidationError

from pilot.command import main
from pilot.settings import PilotSettings
from sluice.contracts.common.wording import validation_sentence


def test_invalid_settings_are_reported_in_plain_sentences(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_PILOT_CORES", "none")
    monkeypatch.setenv("SLUICE_PILOT_LEASE_WAIT", "61")
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX_PATHS", "/software")
    monkeypatch.setenv("SLUICE_PILOT_CONTAINERS", '["docker", "dockr"]')
    monkeypatch.setenv("SLUICE_PILOT_EXPRESION_LIMIT", "7")
    assert main(["--wms-url", "http://127.0.0.1:1", "--name", "farm/1", "--slots", "0"]) == 2
    messages = capsys.readouterr().err.splitlines()
    assert messages[0].startswith("sluice-pilot: --name: 'farm/1' has '/': a name has letters")
    assert messages[0].endswith("begins with a letter, digit or _"), "the value is named once"
    assert messages[1:5] == [
        "sluice-pilot: --slots: Input should be greater than or equal to 1, not 0",
        "sluice-pilot: SLUICE_PILOT_CORES: Input should be a valid number, not 'none'",
        "sluice-pilot: SLUICE_PILOT_LEASE_WAIT: Input should be less than or equal to 60, not '61'",
        "sluice-pilot: SLUICE_PILOT_CONTAINERS, number 2: Input should be 'docker', 'podman',"
        " 'apptainer' or 'udocker', not 'dockr'",
    ]
    assert messages[5:] == [
        "sluice-pilot: SLUICE_PILOT_SANDBOX_PATHS: '/software' is not a list, which is written as"
        """ JSON: '["one", "two"]'"""
    ]


def test_unknown_environment_variables_are_logged(tmp_path: Path) -> None:
    (tmp_path / "file").touch()  # The pilot does not start, as this is not a folder.
    ended = subprocess.run(
        [sys.executable, "-m", "pilot", "--work-dir", str(tmp_path / "file")],
        env={**os.environ, "SLUICE_PILOT_EXPRESION_LIMIT": "7"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    [log_line] = [
        json.loads(line) for line in ended.stderr.splitlines() if "settings.unknown" in line
    ]
    assert log_line["variables"] == ["SLUICE_PILOT_EXPRESION_LIMIT"]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("software", "it is not an absolute path: give one"),
        ("/no/software", "No such file or directory on this node: mount or make it, or take it"),
        ("/tmp", "it cannot be visible: it holds files of others beside programs"),
        ("/proc/version", "it cannot be visible: tools have their own /proc"),
        ("{home}/link", "it leads to /tmp, which cannot be visible"),
        ("{home}/pilot/software", "it is in the pilot's work folder: move it"),
    ],
)
def test_sandbox_path_that_tools_would_not_see_is_refused(
    monkeypatch: pytest.MonkeyPatch, path: str, why: str
) -> None:
    """The error names the setting and says what to do."""
    with (
        tempfile.TemporaryDirectory(dir=Path(__file__).parent) as home,
    ):
        Path(home, "link").symlink_to("/tmp")
        Path(home, "pilot", "software").mkdir(parents=True)
        places = {"home": home}
        hidden_path = path.format(**places)
        monkeypatch.setenv("SLUICE_PILOT_SANDBOX_PATHS", json.dumps(["/usr", hidden_path]))
        with pytest.raises(ValidationError) as refused:
            PilotSettings(work_dir=Path(home, "pilot"))
    [error] = refused.value.errors()
    assert error["loc"] == ("sandbox_paths",)
    reason = why.format(**places)
    assert validation_sentence(error).startswith(f"tools would not see {hidden_path}: {reason}")


def test_sandbox_paths_that_tools_can_see_are_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a sandbox, any path is accepted."""
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX_PATHS", '["/usr/share", "/etc/hosts"]')
    assert len(PilotSettings(work_dir=tmp_path).sandbox_paths) == 2
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX_PATHS", '["/no/software"]')
    assert PilotSettings(work_dir=tmp_path, sandbox="off").sandbox_paths == [Path("/no/software")]
