"""Tests of tools in containers inside an inner workflow."""

from pathlib import Path
from typing import Any

import psutil
import pytest

from sluice.contracts.common.states import ErrorClass
from sluice.contracts.jobs.needs import Container, ContainerImage, Resources
from sluice.contracts.pilots.leases import PilotTask
from tests.needs import CONTAINER_GROUPS
from tests.processes import read_command_line
from tests.servers.podman import IMAGE, Podman
from tests.unit.pilot.attempts import get_error, run
from tests.unit.pilot.builders import make_job, make_task, make_tool, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.runner.containers.podman_slot import (
    make_shell_tool,
    read_output,
)
from tests.unit.pilot.slot_runner import Runner
from tests.waiting import wait_until


def make_container_task(root: Path, process: dict[str, Any], **fields: Any) -> PilotTask:
    return make_task(
        root,
        process,
        container=Container(images=[ContainerImage(name=IMAGE, pull=IMAGE)]),
        **fields,
    )


def test_tools_of_an_inner_workflow_run_in_their_containers(runner: Runner, root: Path) -> None:
    both = wrap_in_workflow(make_shell_tool("cat /etc/mark"))
    both["steps"]["again"] = {
        "in": {"f": "run/o"},
        "out": ["o"],
        "run": make_tool(["rev"], stdin="$(inputs.f.path)"),
    }
    both["outputs"]["o"]["outputSource"] = "again/o"
    report = run(runner, make_container_task(root, both), [write_input(root / "in" / "a.dat")])
    assert read_output(report) == "egami eht edisni\n"


def test_containers_do_not_end_processes_that_serve_other_jobs(runner: Runner, root: Path) -> None:
    def list_serving_processes() -> set[int]:
        return {
            child.pid
            for child in psutil.Process(runner.slot_pid).children()
            if read_command_line(child)
        }

    javascript = {"class": "InlineJavascriptRequirement"}
    prepared = make_task(
        root,
        make_shell_tool(
            "echo $(1 + 1)",
            more=[javascript],
            stdout="$(String(inputs.f.size)).out",
            outputs={"o": "stdout"},
        ),
    )
    run(runner, prepared, [write_input(root / "in" / "a.dat")])
    before = list_serving_processes()
    assert len(before) >= 2, "there are an evaluator and a process for the next workflow"
    run(runner, prepared, [write_input(root / "in" / "b.dat")], seq=1)
    assert list_serving_processes() == before


@pytest.mark.needs(CONTAINER_GROUPS)
def test_container_of_an_inner_workflow_ends_with_its_job(
    runner: Runner, podman: Podman, root: Path
) -> None:
    endless = make_container_task(
        root,
        wrap_in_workflow(make_shell_tool("trap '' TERM; sleep 1000")),
        resources=Resources(time_limit=5.0),
    )
    runner.submit(endless, make_job(endless, [write_input(root / "in" / "a.dat")], job_id=7000))
    wait_until(lambda: podman.run("ps", "--quiet"))
    assert runner.wait_for_end().report.error_class is ErrorClass.TOOL_TIMEOUT
    assert podman.containers() == []


def test_inner_workflow_cannot_stage_a_file_of_the_node(runner: Runner, root: Path) -> None:
    root.mkdir()
    (root / "secret").write_text("hush")
    stealing_tool = wrap_in_workflow(make_shell_tool("cat $f"))
    stealing_tool["steps"]["run"]["in"]["f"]["valueFrom"] = (
        '${ return {"class": "File", "location": "file://' + f"{root}/secret" + '"}; }'
    )
    report = run(
        runner, make_container_task(root, stealing_tool), [write_input(root / "in" / "a.dat")]
    )
    assert f"'{root}/secret' is not a file of the job" in get_error(report)[1]
