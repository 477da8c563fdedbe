"""Tests that secrets of containers are in their environment and files, and on no command line of
the engine."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from pydantic import SecretStr

from sluice.contracts.access.secrets import SecretRef
from tests.servers.podman import IMAGE
from tests.unit.pilot.attempts import read_log
from tests.unit.pilot.builders import make_job, make_task, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.runner.containers.podman_slot import (
    make_shell_tool,
    read_output,
)
from tests.unit.pilot.slot_runner import Runner
from tests.waiting import wait_until

VALUE = "hunter2-hunter2"


def make_tool_with_secret(script: str) -> dict[str, Any]:
    executable = make_shell_tool(
        script,
        inputs={"f": "File", "key": "string"},
        more=[
            {
                "class": "InitialWorkDirRequirement",
                "listing": [{"entryname": "key.txt", "entry": "<$(inputs.key)>"}],
            }
        ],
    )
    variables = {"f": "$(inputs.f.path)", "TOKEN": "Bearer $(inputs.key)"}
    executable["requirements"] = [
        {"class": "EnvVarRequirement", "envDef": variables}
        if requirement["class"] == "EnvVarRequirement"
        else requirement
        for requirement in executable["requirements"]
    ]
    return executable


def wrap_with_secret(executable: dict[str, Any]) -> dict[str, Any]:
    """Return a workflow that runs the tool inside the job."""
    workflow = wrap_in_workflow(executable)
    workflow["inputs"]["key"] = "string"
    workflow["steps"]["run"]["in"]["key"] = "key"
    return workflow


def list_command_lines() -> str:
    """Return the command lines of all processes."""
    return "\n".join(
        " ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])
    )


def list_waiting_pipes(runner: Runner) -> list[Path]:
    """Return the named pipes where tools wait."""
    return list(Path(runner.run.path).rglob("gate"))


@pytest.mark.parametrize(
    "wrap", [lambda process: process, wrap_with_secret], ids=["alone", "in a workflow"]
)
def test_secret_is_in_the_container_and_on_no_command_line(
    runner: Runner, root: Path, wrap: Callable[[Any], Any]
) -> None:
    script = 'echo "$TOKEN" $(cat key.txt); echo "$TOKEN" >&2; mkfifo gate; : < gate; rm gate'
    prepared = make_task(
        root,
        wrap(make_tool_with_secret(script)),
        secrets={"key": SecretRef(name="a", version=1)},
        container={"images": [{"name": IMAGE, "pull": IMAGE}]},
    )
    work = make_job(prepared, [write_input(root / "in" / "a.dat")])
    with ThreadPoolExecutor(1) as executor:
        attempt = executor.submit(runner.attempt, prepared, work, secrets={"key": SecretStr(VALUE)})
        wait_until(lambda: attempt.done() or list_waiting_pipes(runner), seconds=60)
        lines = list_command_lines()
        opened = [os.open(gate, os.O_RDWR) for gate in list_waiting_pipes(runner)]
        report = attempt.result()
    for gate in opened:
        os.close(gate)
    assert "--env=TOKEN " in lines, "the client of the engine gets the name of the variable"
    assert VALUE not in lines
    assert read_output(report) == f"Bearer {VALUE} <{VALUE}>\n", (
        "the tool may write the secret to its output"
    )
    assert "Bearer (secret a)" in read_log(report)
    assert VALUE not in read_log(report)
