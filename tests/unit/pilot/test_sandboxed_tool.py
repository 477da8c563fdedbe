"""``python -m pilot.sandboxed_tool``: a program in the sandbox that a pilot would have."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_CONTAINED = (sys.executable, "-m", "pilot.sandboxed_tool")


def _asked(folder: Path, *program: str, **more: Any) -> tuple[str, ...]:
    """What is to be run: ``program``, which sees ``folder``."""
    tool = {
        "environment": {"PATH": os.environ["PATH"]},
        "reads": [],
        "writes": [str(folder)],
        "network": False,
    }
    (folder / "tool.json").write_text(json.dumps(tool | more))
    return (*_CONTAINED, str(folder / "tool.json"), *program)


def _done(folder: Path, *program: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _asked(folder, *program, **more),
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
def test_it_ends_as_the_program_does(tmp_path: Path, script: str, code: int) -> None:
    assert _done(tmp_path, "sh", "-c", script).returncode == code


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = _done(tmp_path, "no-such-program")
    assert done.returncode == 127
    assert "no-such-program" in done.stderr


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = _done(tmp_path, "true", reads=[f"{tmp_path}/missing"])
    assert done.returncode == 125
    assert f"{tmp_path}/missing: No such file" in done.stderr


def test_what_it_writes_comes_through_and_only_its_own_variables_go_in(tmp_path: Path) -> None:
    script = 'echo "$GIVEN"; env | grep -c SLUICE >&2'
    done = _done(tmp_path, "sh", "-c", script, environment={"GIVEN": "1", "PATH": "/usr/bin:/bin"})
    assert (done.stdout, done.stderr) == ("1\n", "0\n")


def test_files_that_it_reads_cannot_be_changed(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "target").write_text("one\n")
    read = tmp_path / "read"
    read.symlink_to("target")
    script = f"cat {read}; echo more >> {read}"
    done = _done(tmp_path / "work", "sh", "-c", script, reads=[str(read)])
    assert (done.returncode != 0, done.stdout) == (True, "one\n")
    assert read.read_text() == "one\n"


def test_standard_input_cannot_be_changed_through_its_descriptor(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    read = tmp_path / "read"
    read.write_text("one\n")
    with read.open() as stdin:
        done = subprocess.run(
            _asked(
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


def test_a_file_that_its_output_goes_to_is_only_added_to(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    log = tmp_path / "log"
    log.write_text("private\n")
    with log.open("a") as stream:
        subprocess.run(
            _asked(tmp_path / "work", "sh", "-c", "echo more > /proc/self/fd/1"),
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
def test_it_ends_with_the_program_when_it_is_told_to(
    tmp_path: Path, handler: str, ended_by: signal.Signals
) -> None:
    code = f"signal.signal(15, signal.{handler}); print('begun', flush=True); signal.pause()"
    asked = _asked(tmp_path, "python3", "-c", f"import signal; {code}")
    with subprocess.Popen(asked, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        running.terminate()
        assert running.wait(30) == 128 + ended_by


def test_wrong_settings_are_named(tmp_path: Path) -> None:
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
