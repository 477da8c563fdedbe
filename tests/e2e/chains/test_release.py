"""Intermediate files are deleted after their use, and failed jobs are rerun without them."""

import json
from contextlib import suppress
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from sluice.clientkit.connection import Connection
from sluice.clientkit.transfer.upload import upload_files
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import ChainState, JobState
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.templates.templates import NewTemplate
from tests.e2e.chains.test_rerun import list_attempts, run_with_connection, wait_for_end
from tests.e2e.commands import run_sluice, write_texts
from tests.e2e.systems import LiveSystem
from tests.waiting import Gate, eventually, wait_until

pytestmark = pytest.mark.xdist_group("e2e-command")

#: ``bad`` waits at the gate, and fails as long as the flag exists.
WORKFLOW = """\
cwlVersion: v1.2
$namespaces: {{sluice: "urn:sluice:cwl:"}}
class: Workflow
requirements: {{ScatterFeatureRequirement: {{}}}}
inputs: {{texts: "File[]"}}
outputs: {{said: {{type: "File[]", outputSource: end/out}}}}
steps:
  copy:
    scatter: text
    in: {{text: texts}}
    out: [out]
    run: {copy}
  shout:
    scatter: text
    in: {{text: copy/out}}
    out: [out]
    sluice:retry: {{attempts: 1}}
    run: {shout}
  end:
    scatter: text
    in: {{text: shout/out}}
    out: [out]
    run: {end}
"""


def make_tool(script: str) -> str:
    return json.dumps(
        {
            "class": "CommandLineTool",
            "baseCommand": ["sh", "-c", script, "sh"],
            "requirements": {"ToolTimeLimit": {"timelimit": 60}},
            "inputs": {"text": {"type": "File", "inputBinding": {"position": 1}}},
            "outputs": {"out": {"type": "stdout"}},
            "stdout": "out.txt",
        }
    )


def make_workflow(gate: Gate, flag: Path) -> str:
    refuse = f'if grep -q bad "$1"; then : < {gate}; test ! -e {flag} || exit 1; fi'
    return WORKFLOW.format(
        copy=make_tool('cat "$1"'),
        shout=make_tool(f'{refuse}; tr a-z A-Z < "$1"'),
        end=make_tool('echo "$(cat "$1")!"'),
    )


async def begin_chain(connection: Connection, text: str, files: list[str]) -> Chain:
    template = await connection.operator.store_template(NewTemplate(name="relay", cwl=text))
    new = NewDataset(name=f"relay-{uuid4()}", on_demand=True)
    dataset = await upload_files(connection, [Path(file) for file in files], dataset=new)
    return await connection.operator.request_chain(dataset.uid, template.name)


def find_dataset(chain: Chain, step: str) -> str:
    [uid] = [one.uid for one in chain.datasets if (one.step, one.port) == (step, "out")]
    return str(uid)


async def list_unfinished(connection: Connection, chain: Chain, step: str) -> list[int]:
    """Return the numbers of the eight jobs that are not finished or do not exist yet."""
    tasks = [one.task_uid for one in chain.steps if one.name == step and one.task_uid is not None]
    jobs = []
    with suppress(NotFound):  # The task is not yet at the WMS.
        jobs = (await connection.operator.list_jobs(tasks[0])).jobs if tasks else []
    done = {job.seq for job in jobs if job.state is JobState.FINISHED}
    return [seq for seq in range(8) if seq not in done]


async def is_read(connection: Connection, chain: Chain) -> bool:
    """Return whether most jobs have finished and their inputs are released.

    A job may wait for the slot of the job at the gate.
    """
    chain = await connection.operator.get_chain(chain.uid)
    for step, before in (("shout", "copy"), ("end", "shout")):
        intermediate_uids = [
            one.uid for one in chain.datasets if (one.step, one.port) == (before, "out")
        ]
        open_seqs = await list_unfinished(connection, chain, step)
        if not intermediate_uids or len(open_seqs) > 2:
            return False
        if (await connection.operator.get_dataset(intermediate_uids[0])).released != 8 - len(
            open_seqs
        ):
            return False
    return True


def count_stored(system: LiveSystem, chain: Chain, step: str) -> int:
    """Return the number of files on the storage."""
    folder = f"{chain.uid}.{step}.out"
    return sum(path.parent.name == folder for path in system.storage_files("intermediate"))


def is_shown(system: LiveSystem, chain: Chain, seqs_left: list[int], *, deleted: int) -> bool:
    """Return whether the data set of ``copy`` shows these files and a number of deleted ones."""
    output = run_sluice("dataset", "show", find_dataset(chain, "copy"), "--url", system.url).stdout
    listed = json.loads(
        run_sluice(
            "dataset", "files", find_dataset(chain, "copy"), "--url", system.url, "--json"
        ).stdout
    )
    is_explained = f"{deleted} of them are deleted: all steps are done with them" in output
    counted = f"{deleted + len(seqs_left)} files" in output
    return counted and is_explained and [file["seq"] for file in listed["files"]] == seqs_left


def test_rerun_completes_the_output_after_intermediate_files_are_deleted(
    system: LiveSystem, tmp_path: Path
) -> None:
    """Invariants 3, 4 and 8: only inputs of failed jobs are kept, and the output is complete."""
    gate, flag, words = Gate(tmp_path / "gate"), tmp_path / "flag", [*"abc", "bad", *"defg"]
    flag.touch()
    files = write_texts(tmp_path / "in", *words)
    first = run_with_connection(system, lambda c: begin_chain(c, make_workflow(gate, flag), files))

    async def wait(connection: Connection) -> tuple[Chain, list[int], list[int], int]:
        await eventually(lambda: is_read(connection, first), what="others are used", seconds=60)
        chain = await connection.operator.get_chain(first.uid)
        open_seqs = await list_unfinished(connection, chain, "shout")
        copied = set(range(8)).difference(await list_unfinished(connection, chain, "copy"))
        seqs_left = [seq for seq in open_seqs if seq in copied]
        output = await connection.operator.get_dataset(UUID(find_dataset(chain, "shout")))
        read_count = 8 - len(await list_unfinished(connection, chain, "end"))
        return chain, open_seqs, seqs_left, output.count_files - read_count

    def is_gone() -> bool:
        """Look again each time, as a waiting job may continue meanwhile."""
        chain, open_seqs, seqs_left, unread = run_with_connection(system, wait)
        assert chain.state is ChainState.IN_PROGRESS
        assert words.index("bad") in open_seqs
        stored = (count_stored(system, chain, "copy"), count_stored(system, chain, "shout"))
        shown = is_shown(system, chain, seqs_left, deleted=8 - len(open_seqs))
        return shown and stored == (len(seqs_left), unread)

    wait_until(is_gone, what="the used files are released, and their replicas removed", seconds=120)
    gate.open()
    failed = wait_for_end(system, str(first.uid))
    assert failed.state is ChainState.FAILED

    async def list_unfinished_of_steps(connection: Connection) -> list[list[int]]:
        return [await list_unfinished(connection, failed, step) for step in ("shout", "end")]

    to_run = run_with_connection(system, list_unfinished_of_steps)
    flag.unlink()
    arguments = ["chain", "rerun", str(failed.uid), "--failed-only", "--url", system.url]
    plan = run_sluice(*arguments, "--dry-run").stdout
    assert [line.split()[:2] for line in plan.splitlines()[1:]] == [
        ["copy", "taken"],
        ["shout", "runs"],
        ["end", "runs"],
    ]
    rerun = wait_for_end(system, json.loads(run_sluice(*arguments, "--json").stdout)["uid"])
    assert rerun.state is ChainState.FINISHED, rerun.reason

    async def read_result(connection: Connection) -> tuple[list[list[int]], list[str]]:
        """Return attempts of jobs by step, and the addresses of the outputs."""
        [output] = [one.uid for one in rerun.datasets if (one.step, one.port) == ("end", "out")]
        tried = [await list_attempts(connection, rerun, step) for step in ("shout", "end")]
        return tried, [file.url for file in (await connection.operator.list_files(output)).files]

    tried, urls = run_with_connection(system, read_result)
    assert tried == [[int(seq in seqs) for seq in range(8)] for seqs in to_run], (
        "only unfinished jobs ran"
    )
    texts = [Path(url.removeprefix("file://")).read_text() for url in urls]
    assert texts == [f"{word.upper()}!\n" for word in words]
