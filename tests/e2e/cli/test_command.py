"""The command as people type it, on real systems."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from sluice.contracts.common.states import ChainState
from sluice.network.credentials import headers_for
from tests.e2e.commands import interrupt_run, run_sluice, write_texts, write_workflow
from tests.e2e.systems import LiveSystem, open_home_folder
from tests.waiting import eventually

pytestmark = pytest.mark.xdist_group("e2e-command")


def test_lists_are_printed_as_tables_and_as_json(system: LiveSystem, tmp_path: Path) -> None:
    workflow, texts = (
        write_workflow(tmp_path / "listed.cwl"),
        write_texts(tmp_path / "in", "a", "b"),
    )
    run_sluice("run", str(workflow), "-i", *texts, "-o", str(tmp_path / "out"), "--url", system.url)
    chains = json.loads(run_sluice("chain", "list", "--json", "--url", system.url).stdout)
    [chain] = [chain for chain in chains if chain["template"] == "listed"]
    assert chain["state"] == ChainState.FINISHED
    assert "listed" in run_sluice("chain", "list", "--url", system.url).stdout
    assert "shout" in run_sluice("chain", "show", chain["uid"], "--url", system.url).stdout
    page = httpx.get(f"{system.url}/chains/{chain['uid']}", headers=headers_for(system.url))
    assert page.is_success
    assert chain["dataset_name"] in page.text, "the chain has a web page"
    tasks = json.loads(
        run_sluice("task", "list", "--chain", chain["uid"], "--json", "--url", system.url).stdout
    )
    assert sorted(task["jobs"]["total"] for task in tasks) == [1, 2]
    task = next(task for task in tasks if task["step"] == "shout")
    jobs = json.loads(
        run_sluice("task", "jobs", task["task_uid"], "--json", "--url", system.url).stdout
    )
    assert [job["inputs"] for job in jobs] == [["text 0.txt"], ["text 1.txt"]]
    listed, *_ = json.loads(run_sluice("pilot", "list", "--json", "--url", system.url).stdout)
    assert (listed["slots"], listed["resources"]["cores"]) == (20, 2)
    headings, pilot, *_ = run_sluice("pilot", "list", "--url", system.url).stdout.splitlines()
    columns = dict(zip(headings.split(), pilot.split(), strict=False))
    assert (columns["state"], columns["sandbox"], columns["cores"]) == ("idle", "none", "0/2")
    datasets = json.loads(run_sluice("dataset", "list", "--json", "--url", system.url).stdout)
    uids = {one["uid"] for one in chain["datasets"]}
    [output] = [one for one in datasets if one["uid"] in uids and one["type"] == "output"]
    assert output["name"][:8] in run_sluice("dataset", "list", "--url", system.url).stdout


def _get_dataset(system: LiveSystem, uid: str) -> dict[str, Any]:
    url = f"{system.dms_url}/api/v1/datasets/{uid}"
    dataset: dict[str, Any] = httpx.get(url, headers=headers_for(url)).raise_for_status().json()
    return dataset


def test_discarded_chain_leaves_no_files(system: LiveSystem, tmp_path: Path) -> None:
    workflow, texts = (
        write_workflow(tmp_path / "thrown-away.cwl"),
        write_texts(tmp_path / "in", "a", "b"),
    )
    run_sluice("run", str(workflow), "-i", *texts, "-o", str(tmp_path / "out"), "--url", system.url)
    chains = json.loads(run_sluice("chain", "list", "--json", "--url", system.url).stdout)
    [chain] = [chain for chain in chains if chain["template"] == "thrown-away"]
    folders = {one["uid"]: _get_dataset(system, one["uid"]) for one in chain["datasets"]}
    [output] = [one for one in folders.values() if one["type"] == "output"]
    output_paths = [path for path in system.storage_files("output") if output["name"] in str(path)]
    assert output_paths, "the output is on its storage"
    assert (
        "deleted now"
        in run_sluice("chain", "discard", chain["uid"], "--yes", "--url", system.url).stdout
    )

    def is_deleted() -> bool:
        states = [_get_dataset(system, uid)["state"] for uid in folders]
        return set(states) == {"deleted"}

    asyncio.run(
        eventually(
            lambda: asyncio.to_thread(is_deleted), what="all data sets of the chain are deleted"
        )
    )
    assert [path for path in output_paths if path.exists()] == []


def test_results_are_downloaded_again_and_not_overwritten_without_force(
    system: LiveSystem, tmp_path: Path
) -> None:
    workflow, texts = write_workflow(tmp_path / "again.cwl"), write_texts(tmp_path / "in", "a", "b")
    url_options, first, again = ["--url", system.url], tmp_path / "first", tmp_path / "again"
    run_sluice("run", str(workflow), "-i", *texts, "-o", str(first), *url_options)
    [chain] = [
        one
        for one in json.loads(run_sluice("chain", "list", "--json", *url_options).stdout)
        if one["template"] == "again"
    ]
    get = ["chain", "get", chain["uid"], "--out", str(again), *url_options]
    assert str(again / "joined.txt") in run_sluice(*get).stdout
    assert {path.name: path.read_text() for path in again.iterdir()} == {
        path.name: path.read_text() for path in first.iterdir()
    }
    before = (again / "joined.txt").stat()
    run_sluice(*get)
    assert (again / "joined.txt").stat().st_ino == before.st_ino, "an unchanged file is kept"
    (again / "joined.txt").write_text("mine")
    refused = run_sluice(*get, code=1)
    assert "it has 'joined.txt' already" in refused.stderr
    assert (again / "joined.txt").read_text() == "mine"
    run_sluice(*get, "--force")
    assert (again / "joined.txt").read_text() == "A!\nB!\n"
    uids = {one["uid"]: one for one in chain["datasets"]}
    output = next(uid for uid, one in uids.items() if one["port"] == "joined")
    run_sluice("dataset", "get", output, "--out", str(tmp_path / "set"), *url_options)
    assert (tmp_path / "set" / "joined.txt").read_text() == "A!\nB!\n"
    assert json.loads((tmp_path / "set" / "manifest.json").read_text())["dataset"]["uid"] == output
    assert "finished" in run_sluice("chain", "watch", chain["uid"], *url_options).stderr


def test_command_without_a_system_tells_how_to_start_one(tmp_path: Path) -> None:
    done = run_sluice("task", "list", "--home", str(tmp_path / "nothing"), code=1)
    assert "sluice up" in done.stderr
    run_sluice("status", "--home", str(tmp_path / "nothing"), code=1)


def test_system_is_started_used_and_stopped_by_commands(tmp_path: Path) -> None:
    """A second ``up`` has no effect. A run uses the running system, and otherwise starts and stops
    one.
    """
    with open_home_folder() as folder:
        check_up_run_down(folder, tmp_path)


def check_up_run_down(folder: Path, tmp_path: Path) -> None:
    home = ["--home", str(folder)]
    workflow, texts = write_workflow(tmp_path / "shout.cwl"), write_texts(tmp_path / "in", "x")
    (data_folder := tmp_path / "my data").mkdir()
    run_sluice("up", "--detach", "--port", "0", "--storage-root", str(data_folder), *home)
    run_sluice("storage", "add", "archive", "input", f"file://{data_folder}", "--read-only", *home)
    assert (
        "--storage-root"
        in run_sluice(
            "storage", "add", "other", "input", f"file://{tmp_path}/in", *home, code=1
        ).stderr
    )
    assert "already runs" in run_sluice("up", "--detach", *home).stdout
    assert json.loads(run_sluice("status", "--json", *home).stdout)["running"]
    run_sluice("run", str(workflow), "-i", *texts, "-o", str(tmp_path / "first"), *home)
    assert "stopped" in run_sluice("down", *home).stdout
    run_sluice("run", str(workflow), "-i", *texts, "-o", str(tmp_path / "second"), *home)
    assert (
        (tmp_path / "second" / "joined.txt").read_text()
        == (tmp_path / "first" / "joined.txt").read_text()
        == "X!\n"
    )
    run_sluice("status", *home, code=1)
    # An interrupted run stops the system that it started, and says so. The next system continues
    # the chain.
    chain, output = interrupt_run(str(workflow), "-i", *texts, "-o", str(tmp_path / "third"), *home)
    assert "stops with it. The chain continues when it runs again:\n  sluice up --home" in output
    run_sluice("status", *home, code=1)
    run_sluice("up", "--detach", "--port", "0", *home)
    run_sluice("chain", "watch", chain, *home)
    run_sluice("chain", "get", chain, "--out", str(tmp_path / "third"), *home)
    assert (tmp_path / "third" / "joined.txt").read_text() == "X!\n"
    run_sluice("down", *home)
