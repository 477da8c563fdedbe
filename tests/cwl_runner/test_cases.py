"""`sluice cwl-runner` runs cases in the form of CWL's conformance tests, with `cwltest`."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import httpx
import pytest

from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.network.credentials import headers_for
from tests.cwl_runner.gatekeeper import open_gatekeeper
from tests.cwl_runner.runner_command import RUNNER, make_command
from tests.processes import list_running
from tests.waiting import eventually

pytestmark = pytest.mark.xdist_group("cwl-runner")

CASES = Path(__file__).parent / "cases"


def run(url: str, *arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        make_command(url, *arguments),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def check_nothing_is_left(url: str) -> None:
    """Check that every data set but the logs of failed jobs is deleted.

    Empty data sets of `sluice run` are kept: they have nothing to delete.
    """
    asyncio.run(
        eventually(
            lambda: asyncio.to_thread(lambda: not _list_remaining_datasets(url)),
            what=lambda: f"all data sets are deleted, but {_list_remaining_datasets(url)}",
        )
    )


def _list_remaining_datasets(url: str) -> list[str]:
    datasets = httpx.get(
        f"{url}/services/dms/api/v1/datasets", params={"limit": 500}, headers=headers_for(url)
    ).json()["datasets"]
    remaining = [one for one in datasets if one["state"] != DatasetState.DELETED]
    return [
        one["name"]
        for one in remaining
        if one["type"] != DatasetType.LOGS
        and (one["count_files"] or one["name"].startswith("cwl-runner-"))
    ]


@pytest.mark.long("`make conformance` runs a hundred times as many")
def test_all_conformance_cases_pass(url: str, tmp_path: Path) -> None:
    arguments = [
        "--test",
        str(CASES / "cases.yml"),
        "--tool",
        str(RUNNER),
        "-j2",
        "--timeout",
        "90",
    ]
    done = subprocess.run(
        [Path(sys.executable).with_name("cwltest"), *arguments],
        cwd=tmp_path,
        env=os.environ | {"SLUICE_URL": url},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "All tests passed" in done.stdout + done.stderr
    check_nothing_is_left(url)


def test_failed_tool_is_reported_with_its_error(url: str, tmp_path: Path) -> None:
    tool = {"cwlVersion": "v1.2", "class": "CommandLineTool", "inputs": [], "outputs": []}
    (tmp_path / "fails.cwl").write_text(
        json.dumps(tool | {"baseCommand": ["sh", "-c", "echo no beam >&2; exit 3"]})
    )
    done = run(url, "--quiet", "fails.cwl", folder=tmp_path)
    assert (done.returncode, json.loads(done.stdout)) == (1, {})
    assert "exit code 3: no beam" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothere.cwl"], "Not found: 'nothere.cwl'"),
        ([f"{CASES}/head.cwl", "--text", "nothere.txt"], "nothere.txt: there is no such file"),
        ([f"{CASES}/head.cwl", "--text", str(CASES)], "/cases: there is no such file"),
        (
            [f"{CASES}/words.cwl#listed", "--folder", "nothere"],
            "nothere: there is no such directory",
        ),
    ],
)
def test_missing_files_are_reported_in_one_sentence(
    url: str, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    done = run(url, "--quiet", *arguments, folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{sentence}\n" in re.sub(r"\x1b\[[0-9;]*m", "", done.stderr)
    assert "Traceback" not in done.stderr
    assert "--debug" not in done.stderr


def test_container_that_no_node_supports_is_unsupported(url: str, tmp_path: Path) -> None:
    done = run(url, "--quiet", f"{CASES}/words.cwl#contained", folder=tmp_path)
    assert done.returncode == 33
    assert "container" in done.stderr


def test_inputs_can_be_given_as_options(url: str, tmp_path: Path) -> None:
    done = run(
        url,
        "--outdir",
        "out",
        CASES / "head.cwl",
        "--text",
        CASES / "c.txt",
        "--lines",
        "2",
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "first.txt").read_text() == "kiwi\nbanana\n"
    assert json.loads(done.stdout)["first"]["location"] == (tmp_path / "out" / "first.txt").as_uri()


def test_terminated_runner_cancels_its_job(url: str, tmp_path: Path) -> None:
    """The command of the tool identifies its process."""
    sleep_command = ["sleep", "5083"]
    tool = {"cwlVersion": "v1.2", "class": "CommandLineTool", "inputs": [], "outputs": []}
    (tmp_path / "waits.cwl").write_text(json.dumps(tool | {"baseCommand": sleep_command}))
    process = subprocess.Popen(
        make_command(url, "waits.cwl"), cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    asyncio.run(
        eventually(
            lambda: asyncio.to_thread(list_running, sleep_command), what="the tool runs", seconds=60
        )
    )
    [waits] = list_running(sleep_command)
    newest = httpx.get(f"{url}/api/v1/chains", headers=headers_for(url)).json()["chains"][0]
    assert newest["dataset_name"].startswith("cwl-runner-waits-")
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=60)
    assert "canceled" in stderr
    assert process.returncode != 0
    asyncio.run(
        eventually(
            lambda: asyncio.to_thread(lambda: not waits.is_running()),
            what="the tool has ended",
        )
    )
    check_nothing_is_left(url)


def write_large(folder: Path) -> None:
    tool = {
        "cwlVersion": "v1.2",
        "class": "CommandLineTool",
        "baseCommand": "true",
        "inputs": [],
        "outputs": [],
    }
    (folder / "large.cwl").write_text(
        json.dumps(tool | {"requirements": {"ResourceRequirement": {"coresMin": 9999}}})
    )


@pytest.mark.parametrize("options", [[], ["--strict"]], ids=["quick", "with all options"])
def test_tool_that_fits_no_node_is_not_waited_for(
    url: str, tmp_path: Path, options: list[str]
) -> None:
    write_large(tmp_path)
    done = run(url, "--quiet", *options, "large.cwl", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "no node fits: a job needs 9999 cores, the node has " in done.stderr
    assert "with --wait it would wait for one that does" in done.stderr
    check_nothing_is_left(url)


def test_reason_for_waiting_is_shown(url: str, tmp_path: Path) -> None:
    write_large(tmp_path)
    process = subprocess.Popen(
        make_command(url, "--quiet", "--wait", "large.cwl"),
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert "waiting: No pilot fits" in line
    assert "9999 cores" in line
    check_nothing_is_left(url)


def test_refused_chain_leaves_no_data(url: str, tmp_path: Path) -> None:
    def refuse_chains(method: str, path: str) -> int | None:
        return 409 if (method, path) == ("POST", "/api/v1/chains") else None

    with open_gatekeeper(url, refuse_chains) as gate:
        done = run(gate, CASES / "head.cwl", CASES / "text.json", folder=tmp_path)
    assert done.returncode == 1
    assert "the gatekeeper refuses this" in done.stderr
    check_nothing_is_left(url)


@pytest.mark.parametrize(
    "status",
    [0, pytest.param(503, marks=pytest.mark.long("a lost connection is the more severe case"))],
)
def test_outage_between_requests_does_not_change_the_result(
    url: str, tmp_path: Path, status: int
) -> None:
    """Two of four requests for chains and two of four requests for results fail."""
    request_counts = Counter[str]()

    def fail_some_requests(method: str, path: str) -> int | None:
        if method != "GET" or not path.startswith(("/api/v1/chains/", "/api/v1/datasets/")):
            return None
        kind = path.split("/")[3]
        request_counts[kind] += 1
        return status if request_counts[kind] % 4 in (1, 2) else None

    with open_gatekeeper(url, fail_some_requests) as gate:
        done = run(gate, f"{CASES}/words.cwl#all", CASES / "texts.yml", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert request_counts["datasets"] >= 10, "requests for results of five tools were repeated"
    outputs = json.loads(done.stdout)
    assert (outputs["lines"], outputs["joined"]["checksum"]) == (
        6,
        "sha1$b6cfeff160ba76e550d0f6cefbc5da28bb9a536a",
    )
    check_nothing_is_left(url)


def test_unreachable_system_is_reported(tmp_path: Path) -> None:
    done = run("http://127.0.0.1:9", CASES / "head.cwl", CASES / "text.json", folder=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "127.0.0.1:9" in done.stderr
