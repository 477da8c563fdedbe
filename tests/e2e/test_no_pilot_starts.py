"""Commands that wait for jobs end if no pilot of the system can start."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.commands import run_sluice, write_texts, write_workflow
from tests.e2e.systems import LiveSystem, run_live_system

REASON = "SLUICE_PILOT_SANDBOX is required, but there is no bubblewrap"
#: Programs of the node that commands and tools need, without bubblewrap.
PROGRAMS = ("cat", "env", "ldconfig", "python3", "sh", "sha256sum", "uname", "xargs")

ECHO = """\
cwlVersion: v1.2
class: CommandLineTool
baseCommand: [echo, hello]
inputs: {}
outputs: {out: {type: stdout}}
"""


@pytest.fixture(scope="module")
def environment_without_bubblewrap(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment in which pilots require a sandbox and find none."""
    programs = tmp_path_factory.mktemp("programs")
    for name in PROGRAMS:
        if program := shutil.which(name):
            (programs / name).symlink_to(program)
    return {"PATH": str(programs), "SLUICE_PILOT_SANDBOX": "required"}


@pytest.fixture(scope="module")
def system(environment_without_bubblewrap: dict[str, str]) -> Iterator[LiveSystem]:
    with run_live_system(environment=environment_without_bubblewrap) as running:
        yield running


def test_run_cancels_its_chain_and_names_what_is_missing(
    system: LiveSystem, tmp_path: Path
) -> None:
    home = ["--home", str(system.home)]
    workflow = write_workflow(tmp_path / "shout.cwl")
    texts = write_texts(tmp_path / "in", "one")
    result = run_sluice(
        "run", str(workflow), "--input", *texts, *home, "--out", str(tmp_path / "out"), code=1
    )
    assert f"no pilot starts: embedded-1: {REASON}" in " ".join(result.stderr.split())
    assert "canceled" in run_sluice("chain", "list", *home).stdout


def test_cwl_runner_ends_and_names_what_is_missing(system: LiveSystem, tmp_path: Path) -> None:
    (tmp_path / "echo.cwl").write_text(ECHO)
    words = ["cwl-runner", "--home", str(system.home), str(tmp_path / "echo.cwl")]
    result = run_sluice(*words, code=1)
    assert f"no pilot starts: embedded-1: {REASON}" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["-m", "sluice.cli", "bench", "jobs", "--files", "10"], id="benchmark"),
        pytest.param(
            ["-m", "spd.demo", "--frames", "20", "--home", "demo"],
            id="demonstration",
            marks=pytest.mark.long("the benchmark tests the same"),
        ),
    ],
)
def test_commands_with_their_own_system_end_and_name_what_is_missing(
    environment_without_bubblewrap: dict[str, str], tmp_path: Path, words: list[str]
) -> None:
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, **environment_without_bubblewrap},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"error: no pilot starts: embedded-1: {REASON}" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
