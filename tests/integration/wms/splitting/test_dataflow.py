"""Downstream tasks take each file once, as soon as it exists, with the real DMS."""

import asyncio
from pathlib import Path
from uuid import uuid4

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import InputMode, JobState, ReportAnswer, TaskState
from sluice.contracts.jobs.tasks import TaskInput
from sluice.contracts.templates.plan import Boundary
from sluice.servicekit.database import Transaction
from tests.integration.wms.catalogue import deliver_files
from tests.integration.wms.chain_of_steps import ChainOfSteps
from tests.integration.wms.splitting.joined_steps import make_joined_step
from tests.integration.wms.splitting.split_tasks import (
    DyingDmsClient,
    ProcessKilled,
    accept_new_task,
)
from tests.integration.wms.wms_fixture import WmsFixture
from tests.waiting import eventually
from wms.db.dataflow.dataflow_links import insert_dataflow_link
from wms.db.jobs.splitting import claim_task
from wms.db.tasks.tasks import UpstreamRead, lock_tasks
from wms.domain.task_completion import TaskEnding
from wms.usecases.leasing.explain_task import explain_task
from wms.usecases.splitting.claimed_task import CLAIM_DURATION
from wms.usecases.splitting.split_waiting_tasks import split_waiting_tasks
from wms.usecases.tasks.cancel_task import cancel_task
from wms.usecases.tasks.end_task import end_task


@pytest.fixture
def chain(wms: WmsFixture, dms: DmsClient) -> ChainOfSteps:
    return ChainOfSteps(wms, dms)


async def test_downstream_job_is_ready_when_its_own_input_exists(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await (await chain.create_tasks(tmp_path, files=6)).send("a", "b", "c")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 6)
    assert {chain.find_step(job) for job in jobs} == {"a"}
    await chain.wms.finish(pilot, jobs[4], jobs[1])
    assert await chain.ready_seqs("b") == [1, 4]
    assert await chain.job_seqs("c") == []
    [job] = await chain.wms.lease(pilot)
    assert (chain.find_step(job), job.seq) == ("b", 1)
    await chain.wms.finish(pilot, job)
    assert await chain.ready_seqs("c") == [1]
    assert await chain.state("b") is TaskState.SPLITTING


async def test_downstream_jobs_run_first_at_equal_rank(chain: ChainOfSteps, tmp_path: Path) -> None:
    """This keeps the number of intermediate files small."""
    await (await chain.create_tasks(tmp_path, files=4)).send("a", "b", "c")
    done = await chain.run_all(await chain.wms.add_pilot())
    assert done == [(step, seq) for seq in range(4) for step in "abc"]


async def test_higher_rank_goes_before_depth(chain: ChainOfSteps, tmp_path: Path) -> None:
    await (await chain.create_tasks(tmp_path, files=3)).send("a", "b", "c")
    await chain.wms.execute("UPDATE tasks SET rank = 5 WHERE uid = $1", chain.steps["a"].uid)
    done = await chain.run_all(await chain.wms.add_pilot())
    assert done[:3] == [("a", 0), ("a", 1), ("a", 2)]


async def test_downstream_task_ends_after_its_upstream_task_without_the_catalogue(
    chain: ChainOfSteps, dms: DmsClient, tmp_path: Path
) -> None:
    """The catalogue may learn of the files much later."""
    await (await chain.create_tasks(tmp_path, files=5)).send("a", "b", "c")
    pilot = await chain.wms.add_pilot()
    await chain.run_all(pilot)
    assert [await chain.state(step) for step in "abc"] == [
        TaskState.FINISHED,
        TaskState.SPLITTING,
        TaskState.SPLITTING,
    ]
    await chain.split()
    await chain.split()
    assert [await chain.state(step) for step in "abc"] == [TaskState.FINISHED] * 3
    for step in "abc":
        assert await chain.wms.states(chain.steps[step]) == {JobState.FINISHED: 5}
    async with chain.wms.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM flows") == 0
    await deliver_files(chain.wms, dms)
    for task in chain.steps.values():
        dataset = await dms.get_dataset(task.main_output.dat_out_uid)
        assert (dataset.state.readable, dataset.count_files) == (True, 5)


async def test_dataflow_makes_the_same_jobs_as_the_whole_data_set(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await (await chain.create_tasks(tmp_path, files=5)).send("a", "b")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 5)
    await chain.wms.finish(pilot, *reversed(jobs))
    await deliver_files(chain.wms, chain.dms)
    whole_task = chain.steps["b"].model_copy(update={"uid": uuid4(), "step": "whole"})
    chain.steps["whole"] = whole_task
    await chain.send("whole")
    assert await chain.job_inputs("b") == await chain.job_inputs("whole") != []
    assert await chain.job_seqs("b") == await chain.job_seqs("whole") == list(range(5))


async def test_files_written_before_the_downstream_task_came_are_found(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await (await chain.create_tasks(tmp_path, files=8)).send("a")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 8)
    await chain.wms.finish(pilot, *jobs[:5])
    await chain.send("b")
    await chain.split()
    assert await chain.job_seqs("b") == [], "jobs were made before the catalogue knew the files"
    await chain.wms.finish(pilot, jobs[6])
    assert await chain.job_seqs("b") == [6]
    await deliver_files(chain.wms, chain.dms)
    await chain.split()
    assert await chain.job_seqs("b") == [0, 1, 2, 3, 4, 6]
    await chain.wms.finish(pilot, jobs[5], jobs[7])
    assert await chain.job_seqs("b") == list(range(8))


async def test_job_with_a_number_below_leased_jobs_is_leased_too(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await (await chain.create_tasks(tmp_path, files=3)).send("a", "b")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 3)
    await chain.wms.finish(pilot, jobs[2])
    [last] = await chain.wms.lease(pilot)
    await chain.wms.finish(pilot, jobs[0])
    [first] = await chain.wms.lease(pilot)
    assert [(chain.find_step(job), job.seq) for job in (last, first)] == [("b", 2), ("b", 0)]


async def test_failed_upstream_jobs_make_no_downstream_jobs(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    """The boundary allows the failures. The downstream task is judged by the files it gets."""
    await chain.create_tasks(
        tmp_path, files=6, retry=1, boundary=Boundary(minimum=0.5, sufficient=1.0)
    )
    await chain.send("a", "b", "c")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 6)
    await chain.wms.fail(pilot, jobs[0], jobs[3])
    await chain.wms.finish(pilot, *(jobs[seq] for seq in (1, 2, 4, 5)))
    await chain.run_all(pilot)
    await chain.split()
    await chain.split()
    assert await chain.job_seqs("c", JobState.FINISHED) == [1, 2, 4, 5]
    assert [await chain.state(step) for step in "abc"] == [TaskState.FINISHED] * 3


async def test_downstream_task_of_a_failed_task_does_not_finish(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await (await chain.create_tasks(tmp_path, files=4, retry=1)).send("a", "b")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 4)
    await chain.wms.finish(pilot, jobs[0])
    await chain.wms.finish(pilot, *(await chain.wms.lease(pilot)))
    await chain.wms.fail(pilot, jobs[1])
    assert await chain.state("a") is TaskState.FAILED
    await deliver_files(chain.wms, chain.dms)
    await chain.split()
    status = await chain.wms.status(chain.steps["b"])
    assert (status.state, status.finished) == (TaskState.SPLITTING, 1)
    assert status.reason == "the step before it failed"
    await cancel_task(chain.wms.context, chain.steps["b"].uid)
    async with chain.wms.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM flows") == 0


async def test_files_that_a_filter_leaves_out_make_no_jobs(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await chain.create_tasks(tmp_path, files=4, dat_out_optional=True)
    await chain.send("a", "b")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 4)
    for job in jobs:
        report = chain.wms.make_report(job)
        outputs = [] if job.seq % 2 else report.outputs
        await chain.wms.report(pilot, report.model_copy(update={"outputs": outputs}))
    await chain.run_all(pilot)
    await chain.split()
    assert await chain.job_seqs("b", JobState.FINISHED) == [0, 2]
    assert await chain.state("b") is TaskState.FINISHED


async def test_report_concurrent_with_a_new_downstream_task_makes_its_job(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    """The report looked for downstream tasks before this task was there."""
    await (await chain.create_tasks(tmp_path, files=1)).send("a")
    pilot = await chain.wms.add_pilot()
    [job] = await chain.wms.lease(pilot)
    await accept_new_task(chain.wms, chain.steps["b"])
    a, b = chain.steps["a"], chain.steps["b"]
    async with chain.wms.database.transaction() as transaction:
        connection = transaction.connection
        claim = await claim_task(connection, uuid4(), before=None, claim_duration=CLAIM_DURATION)
        assert claim is not None
        await lock_tasks(connection, [a.uid, b.uid])
        reading = UpstreamRead(a.uid, a.main_output.dat_out_uid)
        report = asyncio.create_task(chain.wms.finish(pilot, job))
        await eventually(chain.wms.is_waiting_for_lock, what="the report waits")
        assert await insert_dataflow_link(
            connection, claim, reading, shared_inputs=(), has_missing_jobs=False
        )
    await report
    assert await chain.job_seqs("b") == [0]


@pytest.mark.parametrize("first", ["original", "made"])
async def test_open_data_set_is_paired_with_a_closed_data_set(
    chain: ChainOfSteps, tmp_path: Path, first: str
) -> None:
    """A dot product reads two data sets, of which one is still being written."""
    await chain.create_tasks(tmp_path, files=5)
    joined = await make_joined_step(chain, first=first)
    await chain.send("a", "b", "c")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 5)
    await chain.wms.finish(pilot, jobs[3], jobs[1])
    assert await chain.ready_seqs("b") == [1, 3]
    await chain.wms.finish(pilot, *(await chain.wms.lease(pilot, 1)))
    assert await chain.ready_seqs("c") == [1]
    await chain.wms.finish(pilot, jobs[0], jobs[2], jobs[4])
    await deliver_files(chain.wms, chain.dms)
    chain.steps["whole"] = joined.model_copy(update={"uid": uuid4(), "step": "whole"})
    await chain.send("whole")
    assert await chain.job_inputs("b") == await chain.job_inputs("whole")
    assert await chain.job_seqs("b") == await chain.job_seqs("whole") == list(range(5))
    await chain.run_all(pilot)
    await chain.split()
    await chain.split()
    assert await chain.state("c") is TaskState.FINISHED


async def test_task_over_two_open_data_sets_waits_until_one_is_closed(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    """Then it streams the files of the other data set."""
    await chain.create_tasks(tmp_path, files=3)
    a, b, c = (chain.steps[step] for step in "abc")
    read = [
        TaskInput(port=step, dat_in_uid=uid, mode=InputMode.EACH)
        for step, uid in (("a", a.main_output.dat_out_uid), ("b", b.main_output.dat_out_uid))
    ]
    chain.steps["c"] = c.model_copy(update={"inputs": read})
    await chain.send("a", "b", "c")
    pilot = await chain.wms.add_pilot()
    await chain.wms.finish(pilot, *(await chain.wms.lease(pilot, 3)))
    [job] = await chain.wms.lease(pilot)
    await chain.wms.finish(pilot, job)
    assert await chain.job_seqs("c") == [], "a job was made while both data sets are open"
    await deliver_files(chain.wms, chain.dms)
    await chain.split()
    [job] = await chain.wms.lease(pilot)
    await chain.wms.finish(pilot, job)
    assert await chain.job_seqs("c") == [1]
    await chain.run_all(pilot)
    await deliver_files(chain.wms, chain.dms)
    for _ in range(3):
        await chain.split()
    await chain.run_all(pilot)
    assert await chain.job_seqs("c", JobState.FINISHED) == [0, 1, 2]
    assert await chain.state("c") is TaskState.FINISHED


async def test_data_set_that_is_also_read_as_a_whole_is_waited_for(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await chain.create_tasks(tmp_path, files=4)
    read = chain.steps["b"].main_input
    whole_input = TaskInput(port="all", dat_in_uid=read.dat_in_uid, mode=InputMode.ALL)
    chain.steps["b"] = chain.steps["b"].model_copy(update={"inputs": [read, whole_input]})
    await chain.send("a", "b")
    status = await chain.wms.status(chain.steps["b"])
    assert (status.state, status.total) == (TaskState.WAITING, 0)
    assert status.reason.startswith("waiting for its input data set")


async def test_concurrent_ends_of_upstream_and_downstream_task_leave_no_flow(
    chain: ChainOfSteps, other_wms: WmsFixture, tmp_path: Path
) -> None:
    await (await chain.create_tasks(tmp_path, files=2)).send("a", "b")

    async def end_in_transaction(at: WmsFixture, step: str, transaction: Transaction) -> None:
        uid = chain.steps[step].uid
        await lock_tasks(transaction.connection, [uid])
        task = (await at.context.tasks.get(transaction.connection, [uid]))[uid]
        assert await end_task(transaction, task, TaskEnding(TaskState.CANCELED, "by request"))

    async with chain.wms.database.transaction() as first:
        await end_in_transaction(chain.wms, "a", first)

        async def end_other() -> None:
            async with other_wms.database.transaction() as transaction:
                await end_in_transaction(other_wms, "b", transaction)

        other = asyncio.create_task(end_other())
        await eventually(chain.wms.is_waiting_for_lock, what="the other one waits")
    await other
    async with chain.wms.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM flows") == 0


async def test_explanation_says_how_many_upstream_jobs_a_task_waits_for(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await (await chain.create_tasks(tmp_path, files=4)).send("a", "b")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 4)
    await chain.wms.finish(pilot, *jobs[:3])
    await chain.wms.finish(pilot, *(await chain.wms.lease(pilot, 3)))
    explanation = await explain_task(chain.wms.context, chain.steps["b"].uid)
    assert explanation.text == (
        "Streams the files of step a: 3 of 4 jobs so far, 1 not ended, and its own 3 jobs for these"
        " files have ended."
    )


async def test_stale_report_makes_no_downstream_job(chain: ChainOfSteps, tmp_path: Path) -> None:
    """Invariant 3: only the output of the winning attempt makes a job."""
    await (await chain.create_tasks(tmp_path, files=2)).send("a", "b")
    dead, alive = await chain.wms.add_pilot(name="dead"), await chain.wms.add_pilot(name="alive")
    [job] = await chain.wms.lease(dead)
    await chain.wms.backdate_leases(job)
    await chain.wms.expire_leases()
    await chain.wms.finish(dead, job)
    assert await chain.job_seqs("b") == []
    second_jobs = await chain.wms.lease(alive, 2)
    await chain.wms.finish(alive, *second_jobs)
    await chain.wms.finish(dead, job)
    assert await chain.job_seqs("b") == [0, 1]


async def test_repeated_report_after_the_end_of_the_downstream_task_is_answered(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    """The record of the downstream task's files is gone by then."""
    await (await chain.create_tasks(tmp_path, files=2)).send("a", "b")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 2)
    await chain.wms.finish(pilot, *jobs)
    await chain.run_all(pilot)
    await chain.split()
    assert await chain.state("b") is TaskState.FINISHED
    async with asyncio.timeout(20):
        answers = await chain.wms.finish(pilot, *jobs)
    assert answers == [ReportAnswer.ALREADY] * 2


async def test_splitter_killed_at_every_page_finds_the_missing_files(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    """Invariant 7: another splitter continues."""
    await (await chain.create_tasks(tmp_path, files=13)).send("a")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 13)
    await chain.wms.finish(pilot, *jobs[:12])
    await deliver_files(chain.wms, chain.dms)
    await accept_new_task(chain.wms, chain.steps["b"])
    killed_count = 0
    for pages in range(8):
        try:
            await split_waiting_tasks(
                chain.wms.context, DyingDmsClient(chain.dms, pages=pages), page=3
            )
        except ProcessKilled:
            killed_count += 1
            await chain.wms.execute(
                "UPDATE tasks SET split_until = now() WHERE split_until < 'infinity'"
            )
            await chain.wms.execute("UPDATE tasks SET split_checked_at = NULL")
    assert killed_count >= 3
    await chain.split()
    assert await chain.job_seqs("b") == list(range(12))
    await chain.wms.finish(pilot, jobs[12])
    await chain.run_all(pilot)
    await chain.split()
    assert await chain.state("b") is TaskState.FINISHED
