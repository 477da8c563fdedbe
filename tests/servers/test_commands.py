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
def test_forked_command_has_the_same_output_as_a_started_command(
    words: list[str], tmp_path: Path
) -> None:
    environment = os.environ | {"SLUICE_HOME": str(tmp_path / "home"), "COLUMNS": "70"}
    program, *arguments = words
    forked_result = run(program, *arguments, cwd=tmp_path, env=environment)
    started_result = subprocess.run(
        [PROGRAMS / program, *arguments],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (forked_result.returncode, forked_result.stdout, forked_result.stderr) == (
        started_result.returncode,
        started_result.stdout,
        started_result.stderr,
    )
    assert forked_result.stdout + forked_result.stderr
