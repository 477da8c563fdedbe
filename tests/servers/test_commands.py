"""A command that is forked does what it does when it is started."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.servers.commands import PROGRAMS, run


@pytest.mark.parametrize(
    "words",
    [
        ["sluice", "--help"],
        ["sluice", "status"],
        ["sluice", "template", "check", "nothing.cwl"],
        ["sluice", "cwl-runner", "--version"],
        ["sluice-cwl-runner", "--no-such-option"],
        ["cwltool", "--version"],
        ["cwltool", "--no-such-option"],
    ],
    ids=" ".join,
)
def test_forked_program_prints_the_same_as_a_new_process(words: list[str], tmp_path: Path) -> None:
    environment = os.environ | {"SLUICE_HOME": str(tmp_path / "home"), "COLUMNS": "70"}
    program, *arguments = words
    forked = run(program, *arguments, cwd=tmp_path, env=environment)
    started = subprocess.run(
        [PROGRAMS / program, *arguments],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        started.returncode,
        started.stdout,
        started.stderr,
    )
    assert forked.stdout + forked.stderr
