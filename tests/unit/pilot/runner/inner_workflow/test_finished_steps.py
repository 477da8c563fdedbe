"""Results of finished tools of a workflow, which the next attempt takes over."""

import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from pilot.runner.inner_workflow.finished_steps import FinishedSteps
from sluice.contracts.common.states import AttemptOutcome
from sluice.contracts.jobs.checkpoints import FINISHED_STEPS, Checkpoint, KeptCheckpoint
from tests.unit.pilot import slot_users
from tests.unit.pilot.attempts import get_error, run
from tests.unit.pilot.builders import TOOL_PYTHON, make_task, write_input
from tests.unit.pilot.isolation import ISOLATION_PARAMETERS, start_isolated_slot
from tests.unit.pilot.slot_runner import Runner

COUNTING = pytest.mark.in_the_open("its tools count their runs in a file that no sandbox shows")
#: A tool that adds a line to the file ``count`` and writes the number of the line.
COUNTS = """
import os, sys
with open(sys.argv[1], "a") as file:
    file.write("x\\n")
number = len(open(sys.argv[1]).readlines())
os.makedirs("d/e")
for name in ("o", "d/p", "d/e/q"):
    with open(name, "w") as file:
        file.write(f"{number} {open(sys.argv[2]).read()}")
"""
#: A tool that fails until the file ``go`` is there.
FAILS = """
import os, sys
if not os.path.exists(sys.argv[1]):
    sys.exit("not yet")
for part in sys.argv[2:]:
    sys.stdout.write(open(part).read() + ";")
"""


def _make_tool(code: str, arguments: list[str], **fields: Any) -> dict[str, Any]:
    return {
        "class": "CommandLineTool",
        "baseCommand": [sys.executable, "-c", code.replace("$(", "\\$(")],
        "arguments": arguments,
        **fields,
    }


def make_workflow(folder: Path, **counting: Any) -> dict[str, Any]:
    """Return a workflow whose first step counts its runs, and whose last one may fail."""
    counts = _make_tool(
        COUNTS,
        [str(folder / "count"), "$(inputs.f.path)"],
        inputs={"f": "File"},
        outputs={
            "o": {"type": "File", "outputBinding": {"glob": "o"}},
            "d": {"type": "Directory", "outputBinding": {"glob": "d"}},
        },
    )
    fails = _make_tool(
        FAILS,
        [str(folder / "go"), "$(inputs.o.path)", "$(inputs.d.path)/p", "$(inputs.d.path)/e/q"],
        inputs={"o": "File", "d": "Directory"},
        outputs={"o": "stdout"},
        stdout="result",
    )
    return {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "inputs": {"f": "File"},
        "outputs": {
            "o": {"type": "File", "outputSource": "last/o"},
        },
        "steps": {
            "first": {"in": {"f": "f"}, "out": ["o", "d"], "run": {**counts, **counting}},
            "second": {"in": {"f": "first/o"}, "out": ["o", "d"], "run": {**counts, **counting}},
            "last": {"in": {"o": "second/o", "d": "second/d"}, "out": ["o"], "run": fails},
        },
    }


def _run_two_attempts(
    runner: Runner, root: Path, process: dict[str, Any], *, folder: Path, data: bytes = b"a"
) -> str:
    """Run an attempt that fails and one that succeeds, and return the result of the second."""
    checkpoint = Checkpoint(files=[FINISHED_STEPS], every=86_400)
    task_ = make_task(root, process, checkpoint=checkpoint)
    file = write_input(root / "in" / "a.dat", data=data)
    get_error(run(runner, task_, [file], attempt=1))
    (folder / "go").touch()
    report = run(runner, task_, [file], attempt=2)
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    return (root / "out" / report.outputs[0].name).read_text()


@COUNTING
def test_next_attempt_takes_over_the_results_of_finished_tools(
    runner: Runner, root: Path, tmp_path: Path
) -> None:
    result = _run_two_attempts(runner, root, make_workflow(tmp_path), folder=tmp_path)
    assert result == "2 1 a;" * 3
    assert (tmp_path / "count").read_text() == "x\n" * 2, "each tool ran once"


@COUNTING
def test_tools_that_change_files_in_place_run_again(
    runner: Runner, root: Path, tmp_path: Path
) -> None:
    in_place = {"InplaceUpdateRequirement": {"inplaceUpdate": True}}
    _run_two_attempts(runner, root, make_workflow(tmp_path, requirements=in_place), folder=tmp_path)
    assert (tmp_path / "count").read_text() == "x\n" * 4


@COUNTING
def test_results_that_a_checkpoint_cannot_restore_are_not_kept(
    runner: Runner, root: Path, tmp_path: Path
) -> None:
    """The first tool writes a program: a checkpoint does not restore permissions."""
    process = make_workflow(tmp_path)
    process["steps"]["first"]["run"] = {
        **process["steps"]["first"]["run"],
        "baseCommand": [sys.executable, "-c", COUNTS + "\nos.chmod('o', 0o755)"],
    }
    result = _run_two_attempts(runner, root, process, folder=tmp_path)
    assert result == "4 3 a;" * 3, "what reads the results of a tool that runs again runs again"


#: Writes among the kept results, if it can.
FORGES = """
import os, sys
kept = os.path.join(os.path.dirname(os.path.dirname(os.getcwd())), "out", ".finished-steps")
try:
    os.makedirs(kept, exist_ok=True)
    open(os.path.join(kept, "forged"), "w").close()
except OSError:
    pass
open("o", "w").close()
"""


@pytest.mark.parametrize("isolation", ISOLATION_PARAMETERS)
def test_isolated_tool_writes_no_results_of_others(isolation: str) -> None:
    """What is kept is in the list of the checkpoint of the attempt that fails."""
    with slot_users.open_folder() as folder:
        root = folder / "store"
        process = make_workflow(folder)
        process["steps"]["first"]["run"]["baseCommand"] = [TOOL_PYTHON, "-c", FORGES]
        process["steps"]["first"]["run"]["outputs"] = {
            "o": {"type": "File", "outputBinding": {"glob": "o"}}
        }
        process["steps"]["first"]["out"] = ["o"]
        process["steps"]["second"]["run"]["baseCommand"] = ["false"]
        process["steps"]["last"]["run"]["baseCommand"] = ["false"]
        task_ = make_task(
            root, process, checkpoint=Checkpoint(files=[FINISHED_STEPS], every=86_400)
        )
        runner = start_isolated_slot(isolation, folder / "pilot")
        get_error(run(runner, task_, [write_input(root / "in" / "a.dat")]))
        runner.close()
        kept_list = (root / "logs" / "00000000.1-checkpoint-list.0.json").read_text()
    kept_files = KeptCheckpoint.model_validate_json(kept_list).files
    names = {file.path.rsplit("/", 1)[1] for file in kept_files}
    assert names == {"result.json", "o"} | ({"forged"} if isolation == "open" else set())


class _Job:
    """A job of cwltool without a tool. ``runs`` has the names of the jobs that ran."""

    inplace_update = False
    runs: ClassVar[list[str]] = []

    def __init__(self, name: str, outdir: Path, inputs: dict[str, Any], *, mode: int) -> None:
        outdir.mkdir(parents=True)
        self.name, self.outdir, self.mode = name, str(outdir), mode
        self.builder = SimpleNamespace(job=inputs)
        self.results: dict[str, Any] = {}

    def output_callback(self, results: dict[str, Any], _status: str) -> None:
        self.results = results

    def run(self, _context: Any, _lock: Any = None) -> None:
        self.runs.append(self.name)
        for name in ("x", "y"):
            Path(self.outdir, name).write_text(name)
            Path(self.outdir, name).chmod(self.mode)
        files = {
            name: {"class": "File", "location": Path(self.outdir, name).as_uri(), "basename": name}
            for name in ("x", "y")
        }
        self.output_callback(files, "success")


def test_tool_behind_results_that_are_not_whole_runs_again(tmp_path: Path) -> None:
    """The first tool runs again, and its new results are not kept: they are others."""
    context = SimpleNamespace(workflow_eval_lock=nullcontext())

    def run_attempt(number: int, *, mode: int) -> list[str]:
        _Job.runs.clear()
        kind = FinishedSteps(str(tmp_path / "out"), {}).wrap_job(_Job)
        first = kind("first", tmp_path / f"first{number}", {}, mode=mode)
        first.run(context)
        second = kind("second", tmp_path / f"second{number}", {"f": first.results["x"]}, mode=0o644)
        second.run(context)
        return list(_Job.runs)

    assert run_attempt(1, mode=0o644) == ["first", "second"]
    assert run_attempt(2, mode=0o644) == []
    [kept_result] = [
        path for path in (tmp_path / "out").rglob("y") if path.samefile(tmp_path / "first2" / "y")
    ]
    kept_result.unlink()
    assert run_attempt(3, mode=0o755) == ["first", "second"]
