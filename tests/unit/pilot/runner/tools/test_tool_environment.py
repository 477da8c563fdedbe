"""Tests that the environment of a tool is as it would be without the pilot."""

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from sluice.contracts.common.states import AttemptOutcome, EntryKind
from sluice.contracts.pilots.reports import AttemptReport
from sluice.cwl_values import unpack
from tests.unit.pilot.attempts import run
from tests.unit.pilot.builders import make_output, make_task, make_tool, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.slot_runner import Runner


def read_output(report: AttemptReport) -> str:
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    return Path(report.outputs[0].url.removeprefix("file://")).read_text()


@pytest.fixture
def programs() -> Iterator[Path]:
    """Make a folder for programs of the user, outside the folders that each job has of its own."""
    with TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])
def test_programs_of_the_user_come_before_those_of_sluice(
    programs: Path, root: Path, monkeypatch: pytest.MonkeyPatch, *, inside: bool
) -> None:
    """Tools also find programs of pipeline packs, which are installed with Sluice."""
    (programs / "python3").write_text("#!/bin/sh\necho the user\\'s\n")
    (programs / "python3").chmod(0o755)
    path = f"{programs}:/usr/bin:/bin"
    monkeypatch.setenv("PATH", path)
    runner = Runner(root / "pilot", environment={"PYTHONPATH": str(Path.cwd())})
    try:
        shows = make_tool(["sh", "-c", 'python3; command -v spd-decode; echo "$PATH"'])
        report = run(
            runner,
            make_task(root, wrap_in_workflow(shows) if inside else shows),
            [write_input(root / "in" / "a.dat")],
        )
    finally:
        runner.close()
    own = os.path.dirname(sys.executable)
    assert read_output(report).splitlines() == ["the user's", f"{own}/spd-decode", f"{path}:{own}"]


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])
def test_paths_of_job_folders_have_no_dots(runner: Runner, root: Path, *, inside: bool) -> None:
    shows = make_tool(
        ["echo"],
        requirements={"InlineJavascriptRequirement": {}},
        arguments=["$(inputs.f.path.split('.')[0])", "$(runtime.outdir)", "$(runtime.tmpdir)"],
    )
    report = run(
        runner,
        make_task(root, wrap_in_workflow(shows) if inside else shows),
        [write_input(root / "in" / "reads.txt")],
    )
    stem, outdir, tmpdir = read_output(report).split()
    assert "." not in f"{outdir}{tmpdir}".removeprefix(str(runner.run.path))
    assert stem.endswith("/reads")


def _make_evaluating_tool(expression: str) -> dict[str, Any]:
    port = {"type": ["null", "string"], "outputBinding": {"glob": "x", "outputEval": expression}}
    process = make_tool(
        ["sh", "-c", "printf content > x"],
        requirements={"InlineJavascriptRequirement": {}},
        outputs={"o": port},
    )
    del process["stdout"]
    return process


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])
def test_expression_sees_the_checksum_of_an_output(
    runner: Runner, root: Path, *, inside: bool
) -> None:
    evaluating = _make_evaluating_tool("$(self[0].checksum)")
    executable = wrap_in_workflow(evaluating) if inside else evaluating
    if inside:
        executable["outputs"]["o"]["type"] = ["null", "string"]
    value = make_output(root, "o").model_copy(update={"kind": EntryKind.BUNDLE})
    report = run(
        runner, make_task(root, executable, outputs=[value]), [write_input(root / "in" / "a.dat")]
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    checksum = unpack(Path(report.outputs[0].url.removeprefix("file://")), root / "found")
    assert checksum == f"sha1${hashlib.sha1(b'content').hexdigest()}"  # noqa: S324 - CWL uses SHA-1
