"""Tests of how a pilot without root's capabilities deletes folders that tools have locked."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sluice.contracts.common.states import AttemptOutcome
from tests.unit.pilot.attempts import run
from tests.unit.pilot.builders import make_task, make_tool, write_input
from tests.unit.pilot.slot_runner import Runner

#: Runs the command in its arguments without root's capabilities to override file modes.
_AS_OTHERS = """
import ctypes, os, sys
for capability in (1, 2):
    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
_BEFORE = [sys.executable, "-c", _AS_OTHERS]

#: Makes an output in a read-only folder, a folder without permissions, and a link to the outside.
_LOCK = (
    "mkdir -p d/e .hidden/x; echo 1 > d/e/f; touch .hidden/x/y; ln -s / root; chmod 500 d/e d;"
    " chmod 0 .hidden/x .hidden"
)


@pytest.fixture(scope="module")
def unprivileged_runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    runner = Runner(
        tmp_path_factory.mktemp("pilot"),
        environment={"PYTHONPATH": str(Path.cwd())},
        before=_BEFORE,
    )
    yield runner
    runner.close()


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("end", ["true", "chmod 500 ."])
def test_read_only_job_folders_are_emptied_after_the_job(
    unprivileged_runner: Runner, root: Path, batch: int, end: str
) -> None:
    locks = make_tool(
        ["sh", "-c", f"{_LOCK}; {end}"],
        outputs={"o": {"type": "File", "outputBinding": {"glob": "d/e/f"}}},
    )
    del locks["stdout"]
    files = [write_input(root / "in" / f"{number}.dat", seq=number) for number in range(batch)]
    report = run(unprivileged_runner, make_task(root, locks, batch=batch), files)
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert [Path(file.url.removeprefix("file://")).read_text() for file in report.outputs] == [
        "1\n"
    ] * batch
    [folder] = (unprivileged_runner.run.path / "slots").glob("*-[0-9]*")
    remaining_paths = [path for name in ("in", "out", "tmp") for path in (folder / name).iterdir()]
    assert remaining_paths == []


def test_run_folder_with_read_only_folders_is_deleted(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    subprocess.run(["sh", "-c", _LOCK], cwd=tmp_path / "run", check=True)
    code = (
        "import sys; from pathlib import Path; from pilot.folders.run_folder import RunFolder;"
        " RunFolder(Path(sys.argv[1])).delete()"
    )
    subprocess.run(
        [*_BEFORE, sys.executable, "-c", code, str(tmp_path / "run")],
        check=True,
        env={"PYTHONPATH": os.getcwd()},
    )
    assert not (tmp_path / "run").exists()
