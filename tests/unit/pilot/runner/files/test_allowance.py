"""Tests that the outputs of a job take no more of a storage than the job may write, in a real slot
process."""

from pathlib import Path
from typing import Any

import pytest

from sluice.contracts.common.states import AttemptOutcome, EntryKind, ErrorClass
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.pilots.reports import AttemptReport
from tests.unit.pilot.attempts import get_error, make_python_tool, run
from tests.unit.pilot.builders import make_output, make_task, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.invocations import OPERATION, write_invocation
from tests.unit.pilot.slot_runner import Runner

_HOLES = """
import os
os.mkdir("d")
for n in range(10): open(f"d/{n}", "wb").truncate(4 << 20)
"""
_AGAIN = """
import json
open("x", "wb").write(bytes(4 << 20))
json.dump({"o": [{"class": "File", "path": "x"}] * 10}, open("cwl.output.json", "w"))
"""
_FOLDER = {"type": "Directory", "outputBinding": {"glob": "d"}}
_FILES = {"type": "File[]", "outputBinding": {"glob": "d/*"}}


def _run_with_output(
    runner: Runner,
    root: Path,
    code: str,
    port: Any,
    *,
    spread: bool = False,
    data: bytes = b"",
    inside: bool = False,
) -> AttemptReport:
    process = make_python_tool(code, outputs={"o": port})
    del process["stdout"]
    document = wrap_in_workflow(process) if inside else process
    if inside:
        document["outputs"]["o"]["type"] = port["type"]
    kind = EntryKind.FILE if spread else EntryKind.BUNDLE
    to = make_output(root, "o").model_copy(update={"kind": kind, "spread": spread})
    return run(
        runner,
        make_task(root, document, outputs=[to], resources=Resources(disk=8)),
        [write_input(root / "in" / "a.dat", data=data)],
    )


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])
@pytest.mark.parametrize(
    ("code", "port", "spread"),
    [
        pytest.param(_HOLES, _FOLDER, False, id="files with holes"),
        pytest.param(_AGAIN, _FILES, False, id="one file many times"),
        pytest.param(_HOLES, _FILES, True, id="files with holes, each by itself"),
    ],
)
def test_outputs_larger_than_the_disk_of_the_job_are_refused(
    runner: Runner, root: Path, code: str, port: Any, *, spread: bool, inside: bool
) -> None:
    report = _run_with_output(runner, root, code, port, spread=spread, inside=inside)
    error_class, message = get_error(report)
    assert error_class is ErrorClass.TOOL_REFUSED, message
    assert message.startswith(
        "output 'o' cannot be taken: its files are larger than the 8 MiB that the job may write"
    )
    assert not list((root / "out").glob("*"))


def test_outputs_of_an_invocation_are_limited_by_the_disk_of_its_task(
    runner: Runner, root: Path
) -> None:
    """The outer task requests the disk. Its outputs would be refused as well, but only after they
    were written."""
    process = make_python_tool(_HOLES, inputs={}, outputs={"o": _FOLDER})
    process["arguments"] = process["arguments"][:1]
    del process["stdout"]
    outer = make_task(root, OPERATION, resources=Resources(disk=8))
    error_class, message = get_error(run(runner, outer, [write_invocation(root, process, {})]))
    assert error_class is ErrorClass.TOOL_REFUSED
    assert message.startswith("what the tool left cannot be taken: its files are larger than")


def test_inputs_among_the_outputs_do_not_count_as_written(runner: Runner, root: Path) -> None:
    code = """
import os, sys
os.mkdir("d")
os.symlink(sys.argv[1], "d/input")
open("d/own", "wb").write(bytes(6 << 20))
"""
    report = _run_with_output(runner, root, code, _FOLDER, data=bytes(20 << 20))
    assert report.outcome is AttemptOutcome.FINISHED, report.message
