"""Commands that are killed while they wait leave nothing behind."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from sluice.contracts.common.states import ChainState, DatasetState
from sluice.cwl_runner.rest import RestConnection
from tests.cwl_runner.runners import PROGRAMS, TOOL, write_document
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("cwl-runner")

SLEEP = TOOL | {
    "baseCommand": ["sleep", "600"],
    "inputs": {"file": {"type": "File"}},
    "requirements": {"ToolTimeLimit": {"timelimit": 900}},
}
WORKFLOW = {
    "cwlVersion": "v1.2",
    "class": "Workflow",
    "inputs": {"file": {"type": "File"}, "label": {"type": "string", "default": "none"}},
    "outputs": {"out": {"type": "File", "outputSource": "wait/out"}},
    "steps": {"wait": {"in": {"file": "file"}, "out": ["out"], "run": SLEEP}},
}


@pytest.fixture
def rest(url: str) -> Iterator[RestConnection]:
    with closing(RestConnection(url)) as client:
        yield client


def start_command(command: Sequence[str], folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["env", "--default-signal=HUP", str(PROGRAMS / command[0]), *command[1:]],
        cwd=folder,
        env=os.environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def has_running_task(rest: RestConnection, chain: str) -> bool:
    tasks = rest.get("/tasks", chain_uid=chain)["tasks"]
    return any(task["jobs"] and task["jobs"]["running"] for task in tasks)


@pytest.mark.parametrize(
    ("client", "number"),
    [("cwl-runner", signal.SIGKILL), ("cwl-runner", signal.SIGHUP), ("run", signal.SIGTERM)],
)
def test_killed_client_leaves_nothing(
    url: str, rest: RestConnection, client: str, number: signal.Signals, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("a")
    order = tmp_path / "order.json"
    order.write_text(json.dumps({"file": {"class": "File", "path": "a.txt"}}))

    def chains(**query: str) -> set[str]:
        return {chain["uid"] for chain in rest.get("/chains", **query)["chains"]}

    before = chains()
    if client == "cwl-runner":
        process = write_document(tmp_path, "wait.cwl", SLEEP)
        command = ["sluice-cwl-runner", "--url", url, process, str(order)]
    else:
        process = write_document(tmp_path, "wait.cwl", WORKFLOW)
        command = ["sluice", "run", process, "--url", url, "--job", str(order)]
    running = start_command(command, tmp_path)
    try:
        wait_until(lambda: chains() - before, what="a chain")
        [uid] = chains() - before
        wait_until(lambda: has_running_task(rest, uid), what="a job that runs")
    finally:
        running.send_signal(number)
        _, stderr = running.communicate(timeout=30)
    if number is signal.SIGKILL:
        assert running.returncode == -number
    else:
        assert running.returncode == 128 + number
        assert f"ended by {number.name}" in stderr
        assert f"`sluice chain show {uid}" in stderr
    wait_until(lambda: uid in chains(state=ChainState.CANCELED), what="the end of the chain")
    chain = rest.get(f"/chains/{uid}")
    inputs = [entry["uid"] for entry in chain["datasets"] if entry["step"] is None]

    def is_input_deleted() -> bool:
        entries = [rest.get(f"/datasets/{dataset}") for dataset in inputs]
        return {entry["state"] for entry in entries if entry["count_files"]} == {
            DatasetState.DELETED
        }

    wait_until(is_input_deleted, what="the deletion of its input")
