"""Dataflow scheduling makes the groups and batches that the whole data set would give."""

from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import ErrorClass, JobState, TaskState
from sluice.contracts.jobs.tasks import ReusedTask
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.catalogue import deliver_files, register_output
from tests.integration.wms.chain_of_steps import ChainOfSteps
from tests.integration.wms.splitting.gathering_steps import GROUPING_FIELDS, make_gathering_step
from tests.integration.wms.splitting.split_tasks import (
    DyingDmsClient,
    ProcessKilled,
    accept_new_task,
)
from tests.integration.wms.wms_fixture import WmsFixture
from wms.db.jobs.leases import ClaimedJob
from wms.domain.splitting.tree_merge import SPAN
from wms.usecases.reports.retry_job import retry_job
from wms.usecases.reports.retry_task import retry_task
from wms.usecases.splitting.split_waiting_tasks import split_waiting_tasks
from wms.usecases.tasks.cancel_task import cancel_task

SOME_MAY_FAIL = Boundary(minimum=0.1, sufficient=1.0)


@pytest.fixture
def chain(wms: WmsFixture, dms: DmsClient) -> ChainOfSteps:
    return ChainOfSteps(wms, dms)


async def finish_with_sizes(chain: ChainOfSteps, pilot: Any, *jobs: ClaimedJob) -> None:
    """Finish jobs with files of about a kilobyte, with a size that depends on the number."""
    for job in jobs:
        report = chain.wms.make_report(job)
        outputs = [
            file.model_copy(update={"size": 700 + 397 * job.seq % 1301}) for file in report.outputs
        ]
        await chain.wms.report(pilot, report.model_copy(update={"outputs": outputs}))


async def test_group_is_ready_when_its_files_exist(chain: ChainOfSteps, tmp_path: Path) -> None:
    await chain.create_tasks(tmp_path, files=7)
    make_gathering_step(chain, "b", "groups")
    await chain.send("a", "b", "c")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 7)
    await chain.wms.finish(pilot, jobs[0], jobs[2], jobs[3], jobs[4])
    assert await chain.job_seqs("b") == [], "a group was made although an earlier file is missing"
    await chain.wms.finish(pilot, jobs[1])
    assert await chain.ready_seqs("b") == [0]
    [job] = await chain.wms.lease(pilot)
    await chain.wms.finish(pilot, job)
    assert await chain.ready_seqs("c") == [0], "the downstream map got no job"
    await chain.wms.finish(pilot, jobs[5], jobs[6])
    assert await chain.job_seqs("b") == [0, 1]
    await chain.split()
    assert await chain.job_seqs("b") == [0, 1, 2]
    await chain.run_all(pilot)
    await chain.split()
    assert [await chain.state(step) for step in "abc"] == [TaskState.FINISHED] * 3
    async with chain.wms.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM flows") == 0
        assert await connection.fetchval("SELECT count(*) FROM flow_entries") == 0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("grouping", GROUPING_FIELDS)
async def test_dataflow_makes_the_same_jobs_as_the_whole_data_set(
    chain: ChainOfSteps, tmp_path: Path, grouping: str, seed: int
) -> None:
    """Invariant 8: jobs end in any order, and some give no file."""
    random = Random(seed)
    await chain.create_tasks(tmp_path, files=20, retry=1, boundary=SOME_MAY_FAIL)
    make_gathering_step(chain, "c", grouping)
    await chain.send(*random.choice(["abc", "ab", "a"]))
    pilot = await chain.wms.add_pilot()
    while not chain.is_sent("c") or await chain.state("c") is not TaskState.ACTIVE:
        jobs = await chain.wms.lease(pilot, random.randint(1, 20))
        random.shuffle(jobs)
        for job in jobs:
            if chain.find_step(job) == "a" and random.random() < 0.2:
                await chain.wms.fail(pilot, job)
            elif chain.find_step(job) != "c":
                await finish_with_sizes(chain, pilot, job)
        if random.random() < 0.3:
            await deliver_files(chain.wms, chain.dms)
        await chain.send(*[step for step in "bc" if not chain.is_sent(step)][:1])
        await chain.split()
    await deliver_files(chain.wms, chain.dms)
    chain.steps["whole"] = chain.steps["c"].model_copy(update={"uid": uuid4(), "step": "whole"})
    await chain.send("whole")
    assert await chain.job_inputs("c") == await chain.job_inputs("whole") != []
    assert await chain.job_seqs("c") == await chain.job_seqs("whole")


async def test_files_written_before_the_gathering_task_came_are_found(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await (await chain.create_tasks(tmp_path, files=8)).send("a")
    make_gathering_step(chain, "b", "groups")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 8)
    await chain.wms.finish(pilot, *jobs[:5])
    await chain.send("b")
    await chain.wms.finish(pilot, jobs[5])
    assert await chain.job_seqs("b") == [], "a group was made before the catalogue knew its files"
    await deliver_files(chain.wms, chain.dms)
    await chain.split()
    assert await chain.job_seqs("b") == [0, 1]
    await chain.wms.finish(pilot, *jobs[6:])
    await chain.split()
    assert await chain.job_seqs("b") == [0, 1, 2]


async def test_splitter_killed_at_every_page_records_each_entry_once(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    """Invariant 7: another splitter continues."""
    await (await chain.create_tasks(tmp_path, files=13)).send("a")
    make_gathering_step(chain, "b", "groups")
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
    assert await chain.job_seqs("b") == list(range(4))
    await chain.wms.finish(pilot, jobs[12])
    await chain.split()
    await chain.run_all(pilot)
    assert await chain.state("b") is TaskState.FINISHED
    assert [len(inputs) for inputs in await chain.job_inputs("b")] == [3, 3, 3, 3, 1]  # type: ignore[arg-type]


async def test_job_whose_group_was_made_without_it_cannot_be_retried(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    """Its file belongs to an existing group, in which other files have its place."""
    await chain.create_tasks(tmp_path, files=6, retry=1, boundary=SOME_MAY_FAIL)
    make_gathering_step(chain, "c", "groups")
    await chain.send("a", "b", "c")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 6)
    await chain.wms.fail(pilot, jobs[1])
    await chain.wms.finish(pilot, jobs[0], jobs[2])
    await chain.wms.finish(pilot, *(await chain.wms.lease(pilot, 2)))
    assert await chain.job_seqs("c") == []
    assert (await retry_job(chain.wms.context, jobs[1].id)).state is JobState.READY
    [retried_job] = await chain.wms.lease(pilot)
    await chain.wms.fail(pilot, retried_job)
    await chain.wms.finish(pilot, jobs[3])
    await chain.wms.finish(pilot, *(await chain.wms.lease(pilot)))
    assert await chain.ready_seqs("c") == [0]
    with pytest.raises(Conflict, match="a later step has already grouped the files"):
        await retry_job(chain.wms.context, jobs[1].id)
    with pytest.raises(Conflict, match="is finished: only failed and quarantined jobs"):
        await retry_job(chain.wms.context, jobs[0].id)
    assert (await retry_task(chain.wms.context, chain.steps["a"].uid)).failed == 1
    await chain.wms.fail(pilot, jobs[4])
    assert (await retry_task(chain.wms.context, chain.steps["a"].uid)).failed == 1
    assert await chain.ready_seqs("a") == [4]


async def test_group_two_steps_downstream_learns_that_a_file_will_not_come(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    """No job of the step between has ended since the failure."""
    await chain.create_tasks(tmp_path, files=6, retry=1, boundary=SOME_MAY_FAIL)
    make_gathering_step(chain, "c", "groups")
    await chain.send("a", "b", "c")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 6)
    await chain.wms.finish(pilot, jobs[0], jobs[2], jobs[3])
    await chain.wms.finish(pilot, *(await chain.wms.lease(pilot, 3)))
    assert await chain.job_seqs("c") == []
    await chain.wms.fail(pilot, jobs[1])
    await chain.split()
    assert await chain.job_seqs("c") == [0]


async def test_quarantined_job_blocks_the_groups_behind_it(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await chain.create_tasks(tmp_path, files=6)
    make_gathering_step(chain, "b", "groups")
    await chain.send("a", "b")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 6)
    await chain.wms.execute(
        "UPDATE jobs SET state = $2, lease_until = NULL WHERE id = $1",
        jobs[4].id,
        JobState.QUARANTINED,
    )
    await chain.wms.execute(
        "UPDATE tasks SET leased = leased - 1, quarantined = 1 WHERE uid = $1", chain.steps["a"].uid
    )
    await chain.wms.finish(pilot, *jobs[:4], jobs[5])
    assert await chain.job_seqs("b") == [0]
    assert (await retry_job(chain.wms.context, jobs[4].id)).state is JobState.READY
    await chain.wms.finish(pilot, *(await chain.wms.lease(pilot, 2)))
    await chain.split()
    assert await chain.job_seqs("b") == [0, 1]


@pytest.mark.parametrize("outputs_case", ["spread", "tree"])
async def test_outputs_with_other_numbers_than_their_jobs_are_waited_for(
    chain: ChainOfSteps, tmp_path: Path, outputs_case: str
) -> None:
    await chain.create_tasks(tmp_path, files=4)
    make_gathering_step(chain, "b", "groups")
    task = chain.steps["a"]
    if outputs_case == "tree":
        make_gathering_step(chain, "a", "tree")
    else:
        [output] = task.outputs
        spread = output.model_copy(update={"spread": True})
        chain.steps["a"] = task.model_copy(update={"outputs": [spread]})
    await chain.send("a", "b")
    async with chain.wms.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM flows") == 0


async def test_reused_files_are_in_the_groups(chain: ChainOfSteps, tmp_path: Path) -> None:
    """The upstream task reuses files of an earlier task, and the downstream tasks are new."""
    await chain.create_tasks(tmp_path, files=9, retry=1)
    make_gathering_step(chain, "c", "groups")
    a, uid = chain.steps["a"], await register_output(chain.dms)
    place = a.main_output.model_copy(update={"dat_out_uid": uid})
    chain.steps["before"] = a.model_copy(update={"uid": uuid4(), "outputs": [place]})
    await chain.send("before")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 9)
    await chain.wms.finish(pilot, *jobs[:4])
    await chain.wms.fail(pilot, jobs[4])
    reused = ReusedTask(task=chain.steps["before"].uid, outputs={a.main_output.port: uid})
    chain.steps["a"] = a.model_copy(update={"taken_over": reused})
    await chain.send("a", "b", "c")
    assert await chain.job_seqs("a") == [], (
        "jobs were made before the catalogue knew the reused files"
    )
    for _ in range(3):
        await deliver_files(chain.wms, chain.dms)
        await chain.split()
    assert await chain.job_seqs("b") == [0, 1, 2, 3]
    for _ in range(5):
        await chain.run_all(pilot)
        await deliver_files(chain.wms, chain.dms)
        await chain.split()
    read = [[file["seq"] for file in inputs] for inputs in await chain.job_inputs("c")]  # type: ignore[attr-defined]
    assert read == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


async def test_canceled_downstream_task_does_not_block_a_retry(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await chain.create_tasks(tmp_path, files=6, retry=1, boundary=SOME_MAY_FAIL)
    make_gathering_step(chain, "b", "groups")
    await chain.send("a", "b")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 6)
    await chain.wms.fail(pilot, jobs[1])
    await chain.wms.finish(pilot, jobs[0], jobs[2], jobs[3])
    assert await chain.job_seqs("b") == [0]
    await cancel_task(chain.wms.context, chain.steps["b"].uid)
    assert (await retry_job(chain.wms.context, jobs[1].id)).state is JobState.READY


async def test_failure_of_the_upstream_task_ends_the_gathering(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await chain.create_tasks(tmp_path, files=7, retry=1)
    make_gathering_step(chain, "b", "groups")
    await chain.send("a", "b")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 7)
    await chain.wms.finish(pilot, *jobs[:4])
    await chain.wms.fail(pilot, jobs[4])
    await deliver_files(chain.wms, chain.dms)
    await chain.split()
    status = await chain.wms.status(chain.steps["b"])
    assert (status.state, status.total) == (TaskState.SPLITTING, 1)
    assert status.reason == "the step before it failed"
    await cancel_task(chain.wms.context, chain.steps["b"].uid)
    async with chain.wms.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM flow_entries") == 0


async def test_tree_grows_while_its_files_come(chain: ChainOfSteps, tmp_path: Path) -> None:
    """Neighbours are joined when all of them exist, on all levels at once."""
    await chain.create_tasks(tmp_path, files=10)
    make_gathering_step(chain, "b", "tree")
    await chain.send("a", "b")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 10)
    await chain.wms.finish(pilot, *jobs[:7])
    assert await chain.job_seqs("b") == [0, 1], "an incomplete group was made"
    await chain.wms.finish(pilot, *(await chain.wms.lease(pilot, 2)))
    assert await chain.job_seqs("b") == [0, 1], "parts were joined without the third part"
    await chain.wms.finish(pilot, *jobs[7:])
    await chain.wms.finish(pilot, *(await chain.wms.lease(pilot, 1)))
    await chain.split()
    assert await chain.job_seqs("b") == [0, 1, 2, 3]
    await chain.run_all(pilot)
    assert await chain.job_seqs("b", JobState.FINISHED) == [0, 1, 2, 3, SPAN, SPAN + 1, 2 * SPAN]
    assert await chain.state("b") is TaskState.FINISHED
    await deliver_files(chain.wms, chain.dms)
    [file] = (await chain.dms.list_files(chain.steps["b"].main_output.dat_out_uid)).files
    assert (file.seq, file.meta) == (0, {"first_seq": 0, "last_seq": 9, "files": 10})


async def test_tree_waits_for_a_failed_job_that_can_be_retried(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    """The failure does not fail the task before all its jobs are made."""
    await chain.create_tasks(tmp_path, files=15, retry=1)
    make_gathering_step(chain, "b", "tree")
    await chain.send("a", "b")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 15)
    await chain.wms.finish(pilot, *jobs[:14])
    own = await chain.wms.lease(pilot, 4)
    await chain.wms.fail(pilot, own[1], error=ErrorClass.TOOL_REFUSED)
    await chain.wms.finish(pilot, own[0], *own[2:])
    assert await chain.job_seqs("b") == [0, 1, 2, 3]
    assert (await retry_job(chain.wms.context, own[1].id)).state is JobState.READY
    await chain.wms.finish(pilot, jobs[14])
    await chain.split()
    await chain.run_all(pilot)
    assert await chain.state("b") is TaskState.FINISHED
    await deliver_files(chain.wms, chain.dms)
    [file] = (await chain.dms.list_files(chain.steps["b"].main_output.dat_out_uid)).files
    assert file.meta["files"] == 15
