"""Commands upload files, and leave nothing behind if the upload fails. The system is real."""

import asyncio
import json
import os
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from sluice.contracts.common.states import DatasetState
from sluice.network.credentials import headers_for
from tests.e2e.commands import SLUICE, run_sluice, write_texts, write_workflow
from tests.e2e.systems import LiveSystem
from tests.waiting import eventually

pytestmark = pytest.mark.xdist_group("e2e-command")

#: A file that every user may open, but whose content cannot be read.
UNREADABLE = "/proc/self/mem"


def get_states(system: LiveSystem, beginning: str) -> dict[str, str]:
    """Return the states of data sets whose names have a prefix, including deleted ones."""
    query: dict[str, list[str] | int] = {
        "state": [str(state) for state in DatasetState],
        "limit": 10_000,
    }
    listed = httpx.get(
        f"{system.dms_url}/api/v1/datasets", params=query, headers=headers_for(system.url)
    ).json()["datasets"]
    return {one["name"]: one["state"] for one in listed if one["name"].startswith(beginning)}


def list_remaining_files(system: LiveSystem, beginning: str) -> list[Path]:
    return [path for path in system.storage_files("input") if beginning in str(path)]


async def wait_for_removal(system: LiveSystem, name: str) -> None:
    async def is_removed() -> bool:
        return get_states(system, name) == {name: "deleted"}

    await eventually(is_removed, what=f"data set {name} is deleted")
    assert list_remaining_files(system, name) == []


def test_failed_copy_leaves_no_open_data_set(system: LiveSystem, tmp_path: Path) -> None:
    texts = write_texts(tmp_path / "in", "one", "two")
    done = run_sluice(
        "dataset", "register", "half-read", *texts, UNREADABLE, "--url", system.url, code=1
    )
    assert UNREADABLE in done.stderr
    asyncio.run(wait_for_removal(system, "half-read"))


def test_interrupted_copy_leaves_no_open_data_set(system: LiveSystem, tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(3 << 30)
    command = [
        SLUICE,
        "dataset",
        "register",
        "interrupted",
        str(tmp_path / "huge"),
        "--url",
        system.url,
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:

        async def has_begun() -> bool:
            return bool(list_remaining_files(system, "interrupted"))

        asyncio.run(eventually(has_begun, what="the copy has begun"))
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    asyncio.run(wait_for_removal(system, "interrupted"))


def test_existing_name_is_refused_and_its_files_are_kept(
    system: LiveSystem, tmp_path: Path
) -> None:
    [first, second] = write_texts(tmp_path / "in", "one", "two")
    run_sluice("dataset", "register", "taken", first, "--url", system.url)
    before = {path: path.read_bytes() for path in list_remaining_files(system, "taken")}
    os.replace(second, first)
    done = run_sluice("dataset", "register", "taken", first, "--url", system.url, code=1)
    assert "data set 'taken' already exists, closed with 1 file:" in done.stderr
    assert {path: path.read_bytes() for path in list_remaining_files(system, "taken")} == before


def test_wrong_parameter_is_refused_before_files_are_copied(
    system: LiveSystem, tmp_path: Path
) -> None:
    workflow, texts = write_workflow(tmp_path / "refused.cwl"), write_texts(tmp_path / "in", "a")
    option = ["--param", "sufix=?"]
    sentence = (
        "parameter 'sufix' is unknown (did you mean 'suffix'?); the workflow has suffix (string)"
    )
    done = run_sluice(
        "run",
        str(workflow),
        "-i",
        *texts,
        *option,
        "-o",
        str(tmp_path / "out"),
        "--url",
        system.url,
        code=1,
    )
    assert sentence in done.stderr
    assert get_states(system, "refused") == {}
    run_sluice("template", "publish", str(workflow), "--yes", "--url", system.url)
    uid = json.loads(
        run_sluice("dataset", "register", "fine", *texts, "--json", "--url", system.url).stdout
    )["uid"]
    assert (
        sentence
        in run_sluice("chain", "start", uid, "refused", *option, "--url", system.url, code=1).stderr
    )


def test_unsuitable_data_is_refused_before_files_are_copied(
    system: LiveSystem, tmp_path: Path
) -> None:
    workflow, texts = write_workflow(tmp_path / "fussy.cwl"), write_texts(tmp_path / "in", "a")
    fields = (
        'sluice:require: {files: {minimum: 2}, bytes: {maximum: 1}, meta: {version: {glob: "2.*"}}}'
    )
    workflow.write_text(workflow.read_text().replace("inputs:\n", f"{fields}\ninputs:\n", 1))
    run = ["run", str(workflow), "-o", str(tmp_path / "out"), "--url", system.url, "-i", *texts]
    stderr = run_sluice(*run, "--meta", 'version="1.4"', code=1).stderr
    for requirement in (
        "files from 2 to ∞, which is 1",
        "bytes from -∞ to 1, which is 2",
        "meta version like '2.*', which is '1.4'",
    ):
        assert f"requires {requirement}" in stderr
    assert get_states(system, "fussy") == {}


def test_files_in_subfolders_are_uploaded_on_request(system: LiveSystem, tmp_path: Path) -> None:
    workflow = write_workflow(tmp_path / "folders.cwl")
    write_texts(tmp_path / "in", "a")
    write_texts(tmp_path / "in" / "more", "b")
    run = ["run", str(workflow), "-i", str(tmp_path / "in"), "--url", system.url]
    assert "1 subfolder is left out" in run_sluice(*run, "-o", str(tmp_path / "flat")).stderr
    assert (tmp_path / "flat" / "joined.txt").read_text() == "A!\n"
    run_sluice(*run, "-r", "-o", str(tmp_path / "deep"))
    assert (tmp_path / "deep" / "joined.txt").read_text() == "B!\nA!\n"


def test_uploaded_data_of_a_failed_run_command_is_deleted(
    system: LiveSystem, tmp_path: Path
) -> None:
    """The file of a parameter cannot be read after the data set is complete."""
    workflow = write_workflow(tmp_path / "taken-back.cwl")
    text = workflow.read_text()
    text = text.replace(
        '  suffix: {type: string, default: "!"}\n',
        '  suffix: {type: string, default: "!"}\n  ref: File\n',
    )
    text = text.replace("in: {parts: shout/loud}", "in: {parts: shout/loud, ref: ref}")
    workflow.write_text(
        text.replace('inputs: {parts: "File[]"}', 'inputs: {parts: "File[]", ref: File}')
    )
    texts = write_texts(tmp_path / "in", "a")
    run = ["run", str(workflow), "-i", *texts, "-o", str(tmp_path / "out"), "--url", system.url]
    assert "no such file" in run_sluice(*run, "--param", f"ref={tmp_path}/nothing", code=1).stderr
    assert get_states(system, "taken-back") == {}, "the missing file is noticed before the upload"
    run_sluice(*run, "--param", f"ref={UNREADABLE}", code=1)

    async def are_deleted() -> bool:
        return set(get_states(system, "taken-back").values()) == {"deleted"}

    asyncio.run(eventually(are_deleted, what="both data sets are deleted"))
    assert list_remaining_files(system, "taken-back") == []
