"""Tests that isolation is the same for a tool of its own and for a tool in an inner workflow."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sluice.contracts.common.states import AttemptOutcome
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.pilots.reports import AttemptReport
from tests.needs import ROOT_RIGHTS
from tests.unit.pilot.attempts import make_python_tool, read_log, run
from tests.unit.pilot.builders import make_task, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.network_access import ASKING
from tests.unit.pilot.sandboxes import get_sandbox
from tests.unit.pilot.slot_runner import Runner
from tests.unit.pilot.slot_users import make_user, open_folder, start_slot_as_users

#: MiB. A job may use twice as much.
RAM = 150
NO_CARRIER = {"no_network": "there is no slirp4netns"}

each_way = pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])


@pytest.fixture(scope="module")
def runner_with_node_network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """Start a slot that gives the network of the node to tools that request one."""
    sandbox = get_sandbox().model_copy(update={**NO_CARRIER, "node_network": True})
    yield from _start_runner(tmp_path_factory.mktemp("preferred"), sandbox=sandbox)


@pytest.fixture(scope="module")
def runner_without_network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """Start a slot that refuses tools that request a network."""
    sandbox = get_sandbox().model_copy(update={**NO_CARRIER, "node_network": False})
    yield from _start_runner(tmp_path_factory.mktemp("required"), sandbox=sandbox)


def _start_runner(folder: Path, **settings: Any) -> Iterator[Runner]:
    runner = Runner(folder, settings=settings)
    yield runner
    runner.close()


def _run_code(
    runner: Runner, root: Path, code: str, *, inside: bool, requests_network: bool = False
) -> AttemptReport:
    process = make_python_tool(code, requirements=ASKING if requests_network else {})
    needs = Resources(ram=RAM, time_limit=60.0)
    document = wrap_in_workflow(process) if inside else process
    return run(
        runner, make_task(root, document, resources=needs), [write_input(root / "in" / "a.dat")]
    )


def _read_output(report: AttemptReport) -> str:
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    return Path(report.outputs[0].url.removeprefix("file://")).read_text().strip()


@each_way
def test_log_says_when_a_tool_has_the_network_of_the_node(
    runner_with_node_network: Runner, root: Path, *, inside: bool
) -> None:
    code = "import socket; print(len(socket.if_nameindex()))"
    report = _run_code(runner_with_node_network, root, code, inside=inside, requests_network=True)
    assert int(_read_output(report)) == len(_list_interfaces())
    assert "network: the node's own, as there is no slirp4netns" in read_log(report)
    other = _run_code(runner_with_node_network, root, code, inside=inside)
    assert _read_output(other) == "1"
    assert "network" not in read_log(other).partition("---")[0]


def _list_interfaces() -> list[str]:
    return [path.name for path in Path("/sys/class/net").iterdir() if path.is_dir()]


@each_way
def test_log_does_not_mention_the_node_network_if_the_tool_was_refused(
    runner_without_network: Runner, root: Path, *, inside: bool
) -> None:
    report = _run_code(
        runner_without_network, root, "print()", inside=inside, requests_network=True
    )
    assert report.outcome is AttemptOutcome.FAILED
    assert "there is no slirp4netns" in report.message
    assert "network: the node's own" not in read_log(report)


@each_way
def test_size_of_shared_memory_is_the_memory_limit_of_the_job(
    runner_without_network: Runner, root: Path, *, inside: bool
) -> None:
    code = "import os; found = os.statvfs('/dev/shm'); print(found.f_blocks * found.f_bsize)"
    assert _read_output(_run_code(runner_without_network, root, code, inside=inside)) == str(
        2 * RAM << 20
    )


@pytest.mark.needs(ROOT_RIGHTS)
@pytest.mark.in_the_open("slots have users where there is no sandbox")
@each_way
def test_slot_user_has_the_resource_limits_of_a_sandbox(*, inside: bool) -> None:
    code = (
        "import resource as r; print(r.getrlimit(r.RLIMIT_NPROC)[1],"
        " r.getrlimit(r.RLIMIT_NOFILE)[1], r.getrlimit(r.RLIMIT_CORE)[1])"
    )
    with open_folder() as folder:
        user = make_user(processes=77).model_copy(update={"open_files": 1234})
        runner = start_slot_as_users(folder, [user])
        try:
            assert (
                _read_output(_run_code(runner, folder / "store", code, inside=inside))
                == "77 1234 0"
            )
        finally:
            runner.close()
