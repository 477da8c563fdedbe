"""Faults and a rerun of a chain whose workflow runs as a whole inside one job."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from sluice.clientkit.connection import Connection, connected
from sluice.clientkit.transfer.parameter_files import local_files, upload_parameter_files
from sluice.contracts.chains.chains import Chain, RerunChain
from sluice.contracts.templates.templates import NewTemplate, Template
from tests.differential.answers import Answer, wait_for_chain_outputs
from tests.e2e.systems import LiveSystem
from tests.waiting import eventually

pytestmark = pytest.mark.xdist_group("e2e")

#: Adds a line to the file ``count``, and passes the text on.
COUNTS = """
import sys
with open(sys.argv[1], "a") as file:
    file.write("x\\n")
print(open(sys.argv[2]).read().upper(), end="")
"""
#: Says that it has begun, and waits for a word at the named pipe ``gate``: "fail" or "go".
WAITS = """
import sys
folder, text = sys.argv[1:]
open(folder + "/begun", "w").close()
with open(folder + "/gate") as gate:
    if gate.read() == "fail":
        sys.exit("as requested")
print(open(text).read() * 2, end="")
"""


def _make_tool(code: str, *arguments: str) -> dict[str, Any]:
    return {
        "class": "CommandLineTool",
        "baseCommand": [sys.executable, "-c", code],
        "arguments": [*arguments, "$(inputs.f.path)"],
        "inputs": {"f": "File"},
        "outputs": {"o": "stdout"},
        "stdout": "$(inputs.f.nameroot).out",
        "requirements": {"ToolTimeLimit": {"timelimit": 120}},
    }


def _make_workflow(folder: Path) -> dict[str, Any]:
    """Return a workflow that is not spread, because an output is an input."""
    return {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "inputs": {"text": "File"},
        "outputs": {
            "same": {"type": "File", "outputSource": "text"},
            "twice": {"type": "File", "outputSource": "second/o"},
        },
        "steps": {
            "first": {
                "in": {"f": "text"},
                "out": ["o"],
                "run": _make_tool(COUNTS, f"{folder}/count"),
            },
            "second": {"in": {"f": "first/o"}, "out": ["o"], "run": _make_tool(WAITS, str(folder))},
        },
    }


async def _start_chain(connection: Connection, folder: Path) -> tuple[Chain, Template]:
    name = f"whole-{uuid4().hex[:8]}"
    text = folder / "text.txt"
    text.write_text("ab\n")
    template = await connection.operator.store_template(
        NewTemplate(name=name, cwl=json.dumps(_make_workflow(folder)))
    )
    values = {"text": {"class": "File", "path": str(text)}}
    local = local_files(template.plan, values)
    params = await upload_parameter_files(connection, values, local, name_prefix=name)
    params["text"]["retention"] = "keep"  # for the rerun
    return await connection.operator.request_chain(None, name, params=params), template


async def _fail_a_tool(system: LiveSystem, folder: Path) -> None:
    await asyncio.to_thread((folder / "gate").write_text, "fail")


async def _kill_the_pilot(system: LiveSystem, folder: Path) -> None:
    for number in range(len(system.pilots())):
        system.kill_a_pilot(number)


@pytest.mark.parametrize(
    ("fault", "runs"), [(_fail_a_tool, 1), (_kill_the_pilot, 2)], ids=["tool fails", "pilot killed"]
)
async def test_chain_of_one_job_gives_its_outputs_after_a_fault_and_again(
    system: LiveSystem,
    tmp_path: Path,
    fault: Callable[[LiveSystem, Path], Awaitable[None]],
    runs: int,
) -> None:
    """After a failure, the next attempt takes over the tool that had finished."""
    async with connected(system.url) as connection:
        os.mkfifo(tmp_path / "gate")
        chain, template = await _start_chain(connection, tmp_path)
        begun = tmp_path / "begun"
        await eventually(_make_file_check(begun), what="the second tool has begun", seconds=60)
        begun.unlink()
        await fault(system, tmp_path)
        await eventually(_make_file_check(begun), what="the next attempt has begun", seconds=90)
        await asyncio.to_thread((tmp_path / "gate").write_text, "go")
        first = await wait_for_chain_outputs(connection, chain, template)
        assert _get_names(first) == {"same": "text.txt", "twice": "text.out"}
        assert len((tmp_path / "count").read_text().splitlines()) == runs
        begun.unlink()
        rerun, _ = await connection.operator.rerun_chain(chain.uid, RerunChain())
        await eventually(
            _make_file_check(begun), what="the second tool has begun again", seconds=60
        )
        await asyncio.to_thread((tmp_path / "gate").write_text, "go")
        assert await wait_for_chain_outputs(connection, rerun, template) == first


def _make_file_check(path: Path) -> Callable[[], Awaitable[bool]]:
    return lambda: asyncio.to_thread(path.exists)


def _get_names(answer: Answer) -> dict[str, str]:
    return {name: value.name for name, value in answer.items()}
