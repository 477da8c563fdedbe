"""`sluice template …` with a real operator service on a real port."""

import json
from pathlib import Path

import pytest

from sluice.contracts.data.datasets import NewDataset
from tests.integration.operator.conftest import Operator
from tests.integration.operator.sluice_command import Command
from tests.unit.cwl.documents.two_files import TOOL, WORKFLOW

#: The text of the file in ``folder``.
JOIN = TOOL.replace("\n", "\r\n")
BAD = TOOL.replace("baseCommand", "baseComand")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "flow" / "tools").mkdir(parents=True)
    (tmp_path / "flow" / "workflow.cwl").write_text(WORKFLOW)
    (tmp_path / "flow" / "tools" / "join.cwl").write_bytes(JOIN.encode())
    return tmp_path / "flow"


async def test_commands_upload_restore_show_and_delete_a_template(
    operator: Operator, sluice: Command, folder: Path
) -> None:
    workflow = str(folder / "workflow.cwl")
    assert "flow, version 1\n" in await sluice("template", "upload", workflow)
    assert "flow, version 1 already: nothing was changed" in await sluice(
        "template", "upload", str(folder)
    )
    (folder / "tools" / "join.cwl").write_text(BAD)
    refused = await sluice("template", "upload", workflow, code=1)
    assert f"{folder}/tools/join.cwl:3:1: error:" in refused
    assert "not stored" in refused
    (folder / "tools" / "join.cwl").write_text(TOOL)
    assert "flow, version 2\n" in await sluice("template", "upload", workflow)
    assert "flow, version 3, with the files of version 1" in await sluice(
        "template", "restore", "flow", "1"
    )
    listed = await sluice("template", "versions", "flow")
    assert [line.split()[0] for line in listed.splitlines()] == ["version", "3", "2", "1"]
    await sluice("template", "show", "flow", "--version", "3", "--out", str(folder / "out"))
    assert (folder / "out" / "tools" / "join.cwl").read_bytes() == TOOL.replace(
        "\n", "\r\n"
    ).encode()
    assert (await sluice("template", "show", "flow", "--text")).startswith(WORKFLOW)
    shown = await sluice("template", "show", "flow")
    for line in (
        "flow, version 3",
        "  count (map)",
        "  type is raw",
        "  limit: int = 5",
        "  tools/join.cwl",
    ):
        assert line in shown
    dataset = await operator.client.register_dataset(NewDataset(name="run-1"))
    chain = await operator.client.request_chain(dataset.uid, "flow")
    in_use = await sluice("template", "delete", "flow", "--yes", code=1)
    assert f"chain {chain.uid} of data set run-1, version 3: in_progress" in in_use
    assert "flow deleted" in await sluice("template", "delete", "flow", "--force", "--yes")
    assert "there is no template" in await sluice("template", "versions", "flow", code=1)


async def test_publish_shows_the_changes_and_asks(
    operator: Operator, sluice: Command, folder: Path
) -> None:
    workflow = folder / "workflow.cwl"
    first = await sluice("template", "publish", str(workflow), answered="y\n")
    for line in (
        "flow is new:\n",
        "  match type added: is raw\n",
        "  template retention added: intermediate data are deleted when a chain has finished",
        "Publish it as version 1?",
        "flow, version 1\n",
    ):
        assert line in first
    assert first.count("when a chain has finished") == 1
    assert "nothing was changed" in await sluice("template", "publish", str(folder))
    workflow.write_text(WORKFLOW.replace("type: raw", "type: hot"))
    for options, answered, code in ((("--dry-run",), "", 0), ((), "n\n", 1), ((), "", 1)):
        output = await sluice(
            "template", "publish", str(workflow), *options, answered=answered, code=code
        )
        assert "flow, version 1 → 2:\n  match type changed: is raw → is hot\n---" in output
        assert (
            "-sluice:match: {sluice:type: raw, detector: spd}\n+sluice:match: {sluice:type: hot, "
            "detector: spd}\n" in output
        )
        assert (await operator.client.get_template("flow")).version == 1
    assert "--yes" in output, "the message tells what to do without a terminal"
    changes = json.loads(await sluice("template", "publish", str(workflow), "--dry-run", "--json"))
    assert (changes["before"], changes["version"], changes["plan"][0]["name"]) == (1, 2, "type")
    assert "flow, version 2\n" in await sluice("template", "publish", str(workflow), "--yes")
    assert (await operator.client.get_template("flow")).files == {
        "workflow.cwl": workflow.read_text(),
        "tools/join.cwl": JOIN,
    }


async def test_upload_with_warnings_succeeds_and_shows_their_places(
    sluice: Command, folder: Path
) -> None:
    bound = TOOL.replace("parts: File[]", "parts: {type: 'File[]', inputBinding: {}}")
    slow = bound.replace("timelimit: 10", "timelimit: 0")
    (folder / "tools" / "join.cwl").write_text(slow)
    (folder / "workflow.cwl").write_text(
        WORKFLOW.replace("inputs:\n", "inputs:\n  nobody: int?\n", 1)
    )
    output = await sluice("template", "upload", str(folder / "workflow.cwl"))
    assert f"{folder}/workflow.cwl:10:3: warning: the parameter 'nobody' is never used" in output
    assert (
        f"{folder}/tools/join.cwl:6:27: warning: 'parts' of step 'join' is a File[] with an "
        f"inputBinding" in output
    )
    assert f"{folder}/tools/join.cwl:11:19: warning: step 'join' may run without end" in output
    stored = json.loads(await sluice("template", "show", "flow", "--json"))
    assert [finding["file"] for finding in stored["warnings"]] == ["tools/join.cwl"] * 2 + [
        "workflow.cwl"
    ]
