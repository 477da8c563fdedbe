"""People fix the cause of a failed chain and rerun it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from sluice.clientkit.connection import Connection, connected
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.states import ChainState, DatasetState, JobState
from sluice.contracts.jobs.tasks import Job
from tests.e2e.commands import run_sluice, write_texts, write_workflow
from tests.e2e.systems import LiveSystem
from tests.waiting import eventually

pytestmark = pytest.mark.xdist_group("e2e-command")

Result = TypeVar("Result")

#: Fails for a text with the word ``bad`` as long as the file FLAG exists.
FAIL_FOR_BAD_TEXT = (
    '[python3, -c, "import os, sys; text = open(sys.argv[1]).read().strip(); '
    "text == 'bad' and os.path.exists('FLAG') and sys.exit('refused'); print(text.upper())\"]"
)


def run_with_connection(
    system: LiveSystem, query: Callable[[Connection], Awaitable[Result]]
) -> Result:
    async def run() -> Result:
        async with connected(system.url) as connection:
            return await query(connection)

    return asyncio.run(run())


def wait_for_end(system: LiveSystem, uid: str) -> Chain:
    async def wait(connection: Connection) -> Chain:
        async def is_over() -> bool:
            return (await connection.operator.get_chain(uid)).state.final  # type: ignore[arg-type] # goes into the path

        await eventually(is_over, what=f"end of chain {uid}", seconds=60)
        return await connection.operator.get_chain(uid)  # type: ignore[arg-type]

    return run_with_connection(system, wait)


async def wait_for_input_deletion(chain: Chain, connection: Connection) -> None:
    async def is_gone() -> bool:
        dataset = await connection.operator.get_dataset(chain.dataset_uid)
        return dataset.state is DatasetState.DELETED

    await eventually(is_gone, what="the input of the chain is deleted", seconds=60)


async def list_jobs(connection: Connection, chain: Chain, step: str) -> list[Job]:
    """Return the jobs of a step in order."""
    [task] = [one.task_uid for one in chain.steps if one.name == step and one.task_uid is not None]
    return (await connection.operator.list_jobs(task)).jobs


async def list_finished_jobs(uid: str, step: str, connection: Connection) -> list[bool]:
    """Return for each job in order whether it has finished."""
    chain = await connection.operator.get_chain(uid)  # type: ignore[arg-type] # goes into the path
    jobs = await list_jobs(connection, chain, step)
    return [job.state is JobState.FINISHED for job in jobs]


async def list_attempts(connection: Connection, chain: Chain, step: str) -> list[int]:
    """Return the attempt of each job in order: 0 for a job that was taken over."""
    return [job.attempt for job in await list_jobs(connection, chain, step)]


def test_rerun_of_a_fixed_chain_runs_only_unfinished_jobs(
    system: LiveSystem, tmp_path: Path
) -> None:
    """Invariants 3, 5 and 8: the output is complete and in order, and finished jobs are taken over.

    On a slow machine some other jobs had not begun when the job failed.
    """
    (flag := tmp_path / "flag").touch()
    workflow = write_workflow(
        tmp_path / "picky.cwl", command=FAIL_FOR_BAD_TEXT.replace("FLAG", str(flag)), attempts=2
    )
    words = ["a", "b", "c", "bad", "d", "e", "f", "g"]
    arguments = [
        "run",
        str(workflow),
        "-i",
        *write_texts(tmp_path / "in", *words),
        "-o",
        str(tmp_path / "out"),
    ]
    failed = json.loads(run_sluice(*arguments, "--url", system.url, "--json", code=1).stdout)
    before = failed["chain"]
    done = run_with_connection(system, partial(list_finished_jobs, before, "shout"))
    assert sum(done) > 0
    assert not done[words.index("bad")]
    plan = run_sluice(
        "chain", "rerun", before, "--failed-only", "--dry-run", "--url", system.url
    ).stdout
    assert [line.split()[:4] for line in plan.splitlines()[1:]] == [
        ["shout", "runs", str(8 - sum(done)), str(sum(done))],
        ["join", "runs", "not", "known"],
    ]
    flag.unlink()
    rerun_json = run_sluice(
        "chain", "rerun", before, "--failed-only", "--url", system.url, "--json"
    ).stdout
    chain = wait_for_end(system, json.loads(rerun_json)["uid"])
    assert (chain.state, str(chain.rerun_of)) == (ChainState.FINISHED, before), chain.reason

    async def read_result(connection: Connection) -> tuple[list[int], str]:
        """Return attempts of jobs, and the path of the output."""
        [output] = [one.uid for one in chain.datasets if (one.step, one.port) == ("join", "joined")]
        [file] = (await connection.operator.list_files(output)).files
        return await list_attempts(connection, chain, "shout"), file.url.removeprefix("file://")

    attempts, path = run_with_connection(system, read_result)
    assert attempts == [0 if finished else 1 for finished in done]
    assert Path(path).read_text().split() == [word.upper() for word in words]
    run_with_connection(system, partial(wait_for_input_deletion, chain))
    refused = run_sluice(
        "chain", "rerun", str(chain.uid), "--from", "join", "--url", system.url, code=1
    )
    assert "it cannot be run again: step shout would have to run, but its input" in refused.stderr
