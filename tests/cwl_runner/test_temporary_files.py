"""A run leaves no temporary files, however it ends."""

import asyncio
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cwl_runner.runner_command import make_command
from tests.processes import list_running
from tests.waiting import eventually

pytestmark = pytest.mark.xdist_group("cwl-runner")

TOOL: dict[str, Any] = {
    "class": "CommandLineTool",
    "inputs": {"text": "string"},
    "outputs": {"out": "stdout"},
}
#: Needs the full reader, so that cwltool computes the jobs.
WORKFLOW: dict[str, Any] = {
    "cwlVersion": "v1.2",
    "class": "Workflow",
    "requirements": {"ScatterFeatureRequirement": {}},
    "inputs": {"texts": {"type": "string[]", "default": ["a", "b", "c"]}},
    "outputs": {"out": {"type": "File[]", "outputSource": "each/out"}},
}


def start_workflow(url: str, folder: Path, script: str) -> "subprocess.Popen[str]":
    """Start a workflow of three jobs that run the script."""
    run = TOOL | {"baseCommand": ["sh", "-c", script]}
    each = {"run": run, "scatter": "text", "in": {"text": "texts"}, "out": ["out"]}
    (folder / "process.cwl").write_text(json.dumps(WORKFLOW | {"steps": {"each": each}}))
    (folder / "temporary").mkdir()
    environment = os.environ | {"TMPDIR": str(folder / "temporary")}
    return subprocess.Popen(
        make_command(url, "--outdir", "out", "process.cwl"),
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def list_remaining_files(folder: Path) -> list[str]:
    return sorted(os.listdir(folder / "temporary"))


@pytest.mark.parametrize(("script", "status"), [("echo here", 0), ("exit 3", 1)])
def test_run_leaves_no_temporary_files(url: str, tmp_path: Path, script: str, status: int) -> None:
    process = start_workflow(url, tmp_path, script)
    process.communicate(timeout=120)
    assert process.returncode == status
    assert list_remaining_files(tmp_path) == []


def test_interrupted_run_leaves_no_temporary_files(url: str, tmp_path: Path) -> None:
    process = start_workflow(url, tmp_path, "exec sleep 5084")
    script = ["sleep", "5084"]
    asyncio.run(
        eventually(lambda: asyncio.to_thread(list_running, script), what="a job runs", seconds=60)
    )
    assert list_remaining_files(tmp_path) != []
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert list_remaining_files(tmp_path) == []
