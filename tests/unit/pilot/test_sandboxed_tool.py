"""Tests of ``python -m pilot.sandboxed_tool``, which runs a program in the sandbox that a pilot
would use."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_CONTAINED = (sys.executable, "-m", "pilot.sandboxed_tool")


def _build_command(folder: Path, *program: str, **more: Any) -> tuple[str, ...]:
    """Return the command that runs ``program`` in a sandbox that shows ``folder``."""
    tool = {
        "environment": {"PATH": os.environ["PATH"]},
        "reads": [],
        "writes": [str(folder)],
        "network": False,
    }
    (folder / "tool.json").write_text(json.dumps(tool | more))
    return (*_CONTAINED, str(folder / "tool.json"), *program)


def _run_program(folder: Path, *program: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _build_command(folder, *program, **more),
        cwd=folder,
        env=os.environ | {"SLUICE_PILOT_SANDBOX": "required"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 128 + 9)],
    ids=["success", "failure", "signal"],
)
def test_sandboxed_tool_returns_the_exit_code_of_the_program(
    tmp_path: Path, script: str, code: int
) -> None:
    assert _run_program(tmp_path, "sh", "-c", script).returncode == code


def test_missing_program_is_named_in_the_error(tmp_path: Path) -> None:
    done = _run_program(tmp_path, "no-such-program")
    assert done.returncode == 127
    assert "no-such-program" in done.stderr


def test_missing_input_file_is_named_in_the_error(tmp_path: Path) -> None:
    done = _run_program(tmp_path, "true", reads=[f"{tmp_path}/missing"])
    assert done.returncode == 125
    assert f"{tmp_path}/missing: No such file" in done.stderr


def test_program_gets_only_the_given_variables_and_its_output_is_forwarded(tmp_path: Path) -> None:
    script = 'echo "$GIVEN"; env | grep -c SLUICE >&2'
    done = _run_program(
        tmp_path, "sh", "-c", script, environment={"GIVEN": "1", "PATH": "/usr/bin:/bin"}
    )
    assert (done.stdout, done.stderr) == ("1\n", "0\n")


def test_program_cannot_change_the_files_that_it_reads(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "target").write_text("one\n")
    read = tmp_path / "read"
    read.symlink_to("target")
    script = f"cat {read}; echo more >> {read}"
    done = _run_program(tmp_path / "work", "sh", "-c", script, reads=[str(read)])
    assert (done.returncode != 0, done.stdout) == (True, "one\n")
    assert read.read_text() == "one\n"


def test_program_cannot_change_standard_input_through_its_descriptor(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    read = tmp_path / "read"
    read.write_text("one\n")
    with read.open() as stdin:
        done = subprocess.run(
            _build_command(
                tmp_path / "work", "sh", "-c", "cat; echo more > /proc/self/fd/0", reads=[str(read)]
            ),
            cwd=tmp_path / "work",
            stdin=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode != 0, done.stdout) == (True, "one\n")
    assert read.read_text() == "one\n"


def test_program_can_only_append_to_the_file_of_its_standard_output(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    log = tmp_path / "log"
    log.write_text("private\n")
    with log.open("a") as stream:
        subprocess.run(
            _build_command(tmp_path / "work", "sh", "-c", "echo more > /proc/self/fd/1"),
            cwd=tmp_path / "work",
            stdout=stream,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    assert log.read_text() == "private\nmore\n"


@pytest.mark.parametrize(
    ("handler", "ended_by"),
    [("SIG_DFL", signal.SIGTERM), ("SIG_IGN", signal.SIGKILL)],
    ids=["at once", "by force"],
)
def test_sigterm_ends_the_sandboxed_tool_and_its_program(
    tmp_path: Path, handler: str, ended_by: signal.Signals
) -> None:
    code = f"signal.signal(15, signal.{handler}); print('begun', flush=True); signal.pause()"
    command = _build_command(tmp_path, "python3", "-c", f"import signal; {code}")
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        running.terminate()
        assert running.wait(30) == 128 + ended_by


def test_invalid_setting_is_named_in_the_error(tmp_path: Path) -> None:
    done = subprocess.run(
        _CONTAINED,
        env=os.environ | {"SLUICE_PILOT_SANDBOX": "maybe"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "SLUICE_PILOT_SANDBOX" in done.stderr
    assert "'maybe'" in done.stderr
