"""Tools in containers inside a workflow that one job runs."""

from pathlib import Path
from typing import Any

import psutil
import pytest

from sluice.contracts.needs import Container, ContainerImage, Resources
from sluice.contracts.pilots import PilotTask
from sluice.contracts.states import ErrorClass
from tests.needs import CONTAINER_GROUPS
from tests.processes import command_of
from tests.servers.podman import IMAGE, Podman
from tests.unit.pilot.attempts import failed, run
from tests.unit.pilot.builders import input_file, job, task, tool
from tests.unit.pilot.runner.containers.podman_slot import (
    engine,
    nothing_is_left,
    podman,
    runner,
    shell,
    text_of,
)
from tests.unit.pilot.runner.inner_workflow.test_workflows import around
from tests.unit.pilot.slot_runner import Runner
from tests.waiting import wait_until

__all__ = ["engine", "nothing_is_left", "podman", "runner"]  # fixtures


def contained(root: Path, process: dict[str, Any], **fields: Any) -> PilotTask:
    return task(
        root,
        process,
        container=Container(images=[ContainerImage(name=IMAGE, pull=IMAGE)]),
        **fields,
    )


def test_tools_of_a_workflow_inside_a_job_run_in_their_containers(
    runner: Runner, root: Path
) -> None:
    both = around(shell("cat /etc/mark"))
    both["steps"]["again"] = {
        "in": {"f": "run/o"},
        "out": ["o"],
        "run": tool(["rev"], stdin="$(inputs.f.path)"),
    }
    both["outputs"]["o"]["outputSource"] = "again/o"
    report = run(runner, contained(root, both), [input_file(root / "in" / "a.dat")])
    assert text_of(report) == "egami eht edisni\n"


def test_containers_leave_alone_what_serves_other_jobs(runner: Runner, root: Path) -> None:
    def serving() -> set[int]:
        return {
            child.pid for child in psutil.Process(runner.slot_pid).children() if command_of(child)
        }

    javascript = {"class": "InlineJavascriptRequirement"}
    wanted = task(
        root,
        shell(
            "echo $(1 + 1)",
            more=[javascript],
            stdout="$(String(inputs.f.size)).out",
            outputs={"o": "stdout"},
        ),
    )
    run(runner, wanted, [input_file(root / "in" / "a.dat")])
    before = serving()
    assert len(before) >= 2, "what evaluates expressions, and what the next workflow starts from"
    run(runner, wanted, [input_file(root / "in" / "b.dat")], seq=1)
    assert serving() == before


@pytest.mark.needs(CONTAINER_GROUPS)
def test_a_container_of_a_workflow_is_ended_with_its_job(
    runner: Runner, podman: Podman, root: Path
) -> None:
    endless = contained(
        root, around(shell("trap '' TERM; sleep 1000")), resources=Resources(time_limit=5.0)
    )
    runner.submit(endless, job(endless, [input_file(root / "in" / "a.dat")], job_id=7000))
    wait_until(lambda: podman.run("ps", "--quiet"))
    assert runner.ended().report.error_class is ErrorClass.TOOL_TIMEOUT
    assert podman.containers() == []


def test_a_workflow_brings_in_no_file_of_the_node_either(runner: Runner, root: Path) -> None:
    root.mkdir()
    (root / "secret").write_text("hush")
    thief = around(shell("cat $f"))
    thief["steps"]["run"]["in"]["f"]["valueFrom"] = (
        '${ return {"class": "File", "location": "file://' + f"{root}/secret" + '"}; }'
    )
    report = run(runner, contained(root, thief), [input_file(root / "in" / "a.dat")])
    assert f"'{root}/secret' is no file of the job" in failed(report)[1]
