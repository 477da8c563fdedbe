"""Dataflow scheduling makes the groups and batches that the whole data set would give."""

from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import ErrorClass, InputMode, JobState, TaskMode, TaskState
from sluice.contracts.jobs.tasks import ReusedTask
from sluice.contracts.templates.plan import Boundary, MergeGroups
from tests.integration.wms.catalogue import deliver, new_output
from tests.integration.wms.line import Line
from tests.integration.wms.splitting.test_splitting import Dying, Killed, accept
from tests.integration.wms.stage import Stage
from wms.db.jobs.leases import ClaimedJob
from wms.domain.splitting.tree_merge import SPAN
from wms.usecases.reports.retry_jobs import retry_job, retry_task
from wms.usecases.splitting.split_task import split_waiting_tasks
from wms.usecases.tasks.cancel_task import cancel_task

GATHERED: dict[str, dict[str, Any]] = {
    "groups": {"mode": TaskMode.MERGE, "groups": MergeGroups(files=3)},
    "bytes": {"mode": TaskMode.MERGE, "groups": MergeGroups(bytes=3000)},
    "tree": {"mode": TaskMode.MERGE, "groups": MergeGroups(files=3, tree=True)},
    "batches": {"mode": TaskMode.MAP, "batch": 3},
}
SOME_MAY_FAIL = Boundary(minimum=0.1, sufficient=1.0)


@pytest.fixture
def line(stage: Stage, dms: DmsClient) -> Line:
    return Line(stage, dms)


def gather(line: Line, step: str, how: str) -> None:
    """Make the step gather files instead of mapping them."""
    task, group = line.steps[step], GATHERED[how]
    mode = InputMode.ALL if group["mode"] is TaskMode.MERGE else InputMode.EACH
    read = task.main_input.model_copy(update={"mode": mode})
    parts = uuid4() if how == "tree" else None
    line.steps[step] = task.model_copy(update={**group, "inputs": [read], "parts_uid": parts})


async def finish_with_sizes(line: Line, pilot: Any, *jobs: ClaimedJob) -> None:
    """Finish jobs with files of about a kilobyte, with a size that depends on the number."""
    for job in jobs:
        report = line.stage.report_of(job)
        outputs = [
            file.model_copy(update={"size": 700 + 397 * job.seq % 1301}) for file in report.outputs
        ]
        await line.stage.report(pilot, report.model_copy(update={"outputs": outputs}))


async def test_group_is_ready_when_its_files_exist(line: Line, tmp_path: Path) -> None:
    await line.lay(tmp_path, files=7)
    gather(line, "b", "groups")
    await line.send("a", "b", "c")
    pilot = await line.stage.add_pilot()
    jobs = await line.stage.lease(pilot, 7)
    await line.stage.finish(pilot, jobs[0], jobs[2], jobs[3], jobs[4])
    assert await line.seqs("b") == [], "a group was made although an earlier file is missing"
    await line.stage.finish(pilot, jobs[1])
    assert await line.ready("b") == [0]
    [job] = await line.stage.lease(pilot)
    await line.stage.finish(pilot, job)
    assert await line.ready("c") == [0], "the downstream map got no job"
    await line.stage.finish(pilot, jobs[5], jobs[6])
    assert await line.seqs("b") == [0, 1]
    await line.split()
    assert await line.seqs("b") == [0, 1, 2]
    await line.run_all(pilot)
    await line.split()
    assert [await line.state(step) for step in "abc"] == [TaskState.FINISHED] * 3
    async with line.stage.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM flows") == 0
        assert await connection.fetchval("SELECT count(*) FROM flow_entries") == 0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("how", GATHERED)
async def test_dataflow_makes_the_same_jobs_as_the_whole_data_set(
    line: Line, tmp_path: Path, how: str, seed: int
) -> None:
    """Invariant 8: jobs end in any order, and some give no file."""
    random = Random(seed)
    await line.lay(tmp_path, files=20, retry=1, boundary=SOME_MAY_FAIL)
    gather(line, "c", how)
    await line.send(*random.choice(["abc", "ab", "a"]))
    pilot = await line.stage.add_pilot()
    while not line.is_sent("c") or await line.state("c") is not TaskState.ACTIVE:
        jobs = await line.stage.lease(pilot, random.randint(1, 20))
        random.shuffle(jobs)
        for job in jobs:
            if line.step_of(job) == "a" and random.random() < 0.2:
                await line.stage.fail(pilot, job)
            elif line.step_of(job) != "c":
                await finish_with_sizes(line, pilot, job)
        if random.random() < 0.3:
            await deliver(line.stage, line.dms)
        await line.send(*[step for step in "bc" if not line.is_sent(step)][:1])
        await line.split()
    await deliver(line.stage, line.dms)
    line.steps["whole"] = line.steps["c"].model_copy(update={"uid": uuid4(), "step": "whole"})
    await line.send("whole")
    assert await line.inputs("c") == await line.inputs("whole") != []
    assert await line.seqs("c") == await line.seqs("whole")


async def test_files_written_before_the_gathering_task_came_are_found(
    line: Line, tmp_path: Path
) -> None:
    await (await line.lay(tmp_path, files=8)).send("a")
    gather(line, "b", "groups")
    pilot = await line.stage.add_pilot()
    jobs = await line.stage.lease(pilot, 8)
    await line.stage.finish(pilot, *jobs[:5])
    await line.send("b")
    await line.stage.finish(pilot, jobs[5])
    assert await line.seqs("b") == [], "a group was made before the catalogue knew its files"
    await deliver(line.stage, line.dms)
    await line.split()
    assert await line.seqs("b") == [0, 1]
    await line.stage.finish(pilot, *jobs[6:])
    await line.split()
    assert await line.seqs("b") == [0, 1, 2]


async def test_splitter_killed_at_every_page_records_each_entry_once(
    line: Line, tmp_path: Path
) -> None:
    """Invariant 7: another splitter goes on."""
    await (await line.lay(tmp_path, files=13)).send("a")
    gather(line, "b", "groups")
    pilot = await line.stage.add_pilot()
    jobs = await line.stage.lease(pilot, 13)
    await line.stage.finish(pilot, *jobs[:12])
    await deliver(line.stage, line.dms)
    await accept(line.stage, line.steps["b"])
    died = 0
    for pages in range(8):
        try:
            await split_waiting_tasks(line.stage.context, Dying(line.dms, pages=pages), page=3)
        except Killed:
            died += 1
            await line.stage.execute(
                "UPDATE tasks SET split_until = now() WHERE split_until < 'infinity'"
            )
            await line.stage.execute("UPDATE tasks SET split_checked_at = NULL")
    assert died >= 3
    await line.split()
    assert await line.seqs("b") == list(range(4))
    await line.stage.finish(pilot, jobs[12])
    await line.split()
    await line.run_all(pilot)
    assert await line.state("b") is TaskState.FINISHED
    assert [len(inputs) for inputs in await line.inputs("b")] == [3, 3, 3, 3, 1]  # type: ignore[arg-type]


async def test_job_whose_group_was_made_without_it_cannot_be_retried(
    line: Line, tmp_path: Path
) -> None:
    """Its file belongs to an existing group, in which other files have its place."""
    await line.lay(tmp_path, files=6, retry=1, boundary=SOME_MAY_FAIL)
    gather(line, "c", "groups")
    await line.send("a", "b", "c")
    pilot = await line.stage.add_pilot()
    jobs = await line.stage.lease(pilot, 6)
    await line.stage.fail(pilot, jobs[1])
    await line.stage.finish(pilot, jobs[0], jobs[2])
    await line.stage.finish(pilot, *(await line.stage.lease(pilot, 2)))
    assert await line.seqs("c") == []
    assert (await retry_job(line.stage.context, jobs[1].id)).state is JobState.READY
    [again] = await line.stage.lease(pilot)
    await line.stage.fail(pilot, again)
    await line.stage.finish(pilot, jobs[3])
    await line.stage.finish(pilot, *(await line.stage.lease(pilot)))
    assert await line.ready("c") == [0]
    with pytest.raises(Conflict, match="a later step has made its groups"):
        await retry_job(line.stage.context, jobs[1].id)
    with pytest.raises(Conflict, match="is finished: only failed and quarantined jobs"):
        await retry_job(line.stage.context, jobs[0].id)
    assert (await retry_task(line.stage.context, line.steps["a"].uid)).failed == 1
    await line.stage.fail(pilot, jobs[4])
    assert (await retry_task(line.stage.context, line.steps["a"].uid)).failed == 1
    assert await line.ready("a") == [4]


async def test_group_two_steps_downstream_learns_that_a_file_will_not_come(
    line: Line, tmp_path: Path
) -> None:
    """No job of the step between has ended since the failure."""
    await line.lay(tmp_path, files=6, retry=1, boundary=SOME_MAY_FAIL)
    gather(line, "c", "groups")
    await line.send("a", "b", "c")
    pilot = await line.stage.add_pilot()
    jobs = await line.stage.lease(pilot, 6)
    await line.stage.finish(pilot, jobs[0], jobs[2], jobs[3])
    await line.stage.finish(pilot, *(await line.stage.lease(pilot, 3)))
    assert await line.seqs("c") == []
    await line.stage.fail(pilot, jobs[1])
    await line.split()
    assert await line.seqs("c") == [0]


async def test_quarantined_job_blocks_the_groups_behind_it(line: Line, tmp_path: Path) -> None:
    await line.lay(tmp_path, files=6)
    gather(line, "b", "groups")
    await line.send("a", "b")
    pilot = await line.stage.add_pilot()
    jobs = await line.stage.lease(pilot, 6)
    await line.stage.execute(
        "UPDATE jobs SET state = $2, lease_until = NULL WHERE id = $1",
        jobs[4].id,
        JobState.QUARANTINED,
    )
    await line.stage.execute(
        "UPDATE tasks SET leased = leased - 1, quarantined = 1 WHERE uid = $1", line.steps["a"].uid
    )
    await line.stage.finish(pilot, *jobs[:4], jobs[5])
    assert await line.seqs("b") == [0]
    assert (await retry_job(line.stage.context, jobs[4].id)).state is JobState.READY
    await line.stage.finish(pilot, *(await line.stage.lease(pilot, 2)))
    await line.split()
    assert await line.seqs("b") == [0, 1]


@pytest.mark.parametrize("way", ["spread", "tree"])
async def test_outputs_with_other_numbers_than_their_jobs_are_waited_for(
    line: Line, tmp_path: Path, way: str
) -> None:
    await line.lay(tmp_path, files=4)
    gather(line, "b", "groups")
    task = line.steps["a"]
    if way == "tree":
        gather(line, "a", "tree")
    else:
        [output] = task.outputs
        spread = output.model_copy(update={"spread": True})
        line.steps["a"] = task.model_copy(update={"outputs": [spread]})
    await line.send("a", "b")
    async with line.stage.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM flows") == 0


async def test_reused_files_are_in_the_groups(line: Line, tmp_path: Path) -> None:
    """The upstream task reuses files of an earlier task, and the downstream tasks are new."""
    await line.lay(tmp_path, files=9, retry=1)
    gather(line, "c", "groups")
    a, uid = line.steps["a"], await new_output(line.dms)
    place = a.main_output.model_copy(update={"dat_out_uid": uid})
    line.steps["before"] = a.model_copy(update={"uid": uuid4(), "outputs": [place]})
    await line.send("before")
    pilot = await line.stage.add_pilot()
    jobs = await line.stage.lease(pilot, 9)
    await line.stage.finish(pilot, *jobs[:4])
    await line.stage.fail(pilot, jobs[4])
    over = ReusedTask(task=line.steps["before"].uid, outputs={a.main_output.port: uid})
    line.steps["a"] = a.model_copy(update={"taken_over": over})
    await line.send("a", "b", "c")
    assert await line.seqs("a") == [], "jobs were made before the catalogue knew the reused files"
    for _ in range(3):
        await deliver(line.stage, line.dms)
        await line.split()
    assert await line.seqs("b") == [0, 1, 2, 3]
    for _ in range(5):
        await line.run_all(pilot)
        await deliver(line.stage, line.dms)
        await line.split()
    read = [[file["seq"] for file in inputs] for inputs in await line.inputs("c")]  # type: ignore[attr-defined]
    assert read == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


async def test_canceled_downstream_task_does_not_block_a_retry(line: Line, tmp_path: Path) -> None:
    await line.lay(tmp_path, files=6, retry=1, boundary=SOME_MAY_FAIL)
    gather(line, "b", "groups")
    await line.send("a", "b")
    pilot = await line.stage.add_pilot()
    jobs = await line.stage.lease(pilot, 6)
    await line.stage.fail(pilot, jobs[1])
    await line.stage.finish(pilot, jobs[0], jobs[2], jobs[3])
    assert await line.seqs("b") == [0]
    await cancel_task(line.stage.context, line.steps["b"].uid)
    assert (await retry_job(line.stage.context, jobs[1].id)).state is JobState.READY


async def test_failure_of_the_upstream_task_ends_the_gathering(line: Line, tmp_path: Path) -> None:
    await line.lay(tmp_path, files=7, retry=1)
    gather(line, "b", "groups")
    await line.send("a", "b")
    pilot = await line.stage.add_pilot()
    jobs = await line.stage.lease(pilot, 7)
    await line.stage.finish(pilot, *jobs[:4])
    await line.stage.fail(pilot, jobs[4])
    await deliver(line.stage, line.dms)
    await line.split()
    status = await line.stage.status(line.steps["b"])
    assert (status.state, status.total) == (TaskState.SPLITTING, 1)
    assert status.reason == "the step before it failed"
    await cancel_task(line.stage.context, line.steps["b"].uid)
    async with line.stage.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM flow_entries") == 0


async def test_tree_grows_while_its_files_come(line: Line, tmp_path: Path) -> None:
    """Neighbours are joined when all of them exist, on all levels at once."""
    await line.lay(tmp_path, files=10)
    gather(line, "b", "tree")
    await line.send("a", "b")
    pilot = await line.stage.add_pilot()
    jobs = await line.stage.lease(pilot, 10)
    await line.stage.finish(pilot, *jobs[:7])
    assert await line.seqs("b") == [0, 1], "an incomplete group was made"
    await line.stage.finish(pilot, *(await line.stage.lease(pilot, 2)))
    assert await line.seqs("b") == [0, 1], "parts were joined without the third part"
    await line.stage.finish(pilot, *jobs[7:])
    await line.stage.finish(pilot, *(await line.stage.lease(pilot, 1)))
    await line.split()
    assert await line.seqs("b") == [0, 1, 2, 3]
    await line.run_all(pilot)
    assert await line.seqs("b", JobState.FINISHED) == [0, 1, 2, 3, SPAN, SPAN + 1, 2 * SPAN]
    assert await line.state("b") is TaskState.FINISHED
    await deliver(line.stage, line.dms)
    [file] = (await line.dms.list_files(line.steps["b"].main_output.dat_out_uid)).files
    assert (file.seq, file.meta) == (0, {"first_seq": 0, "last_seq": 9, "files": 10})


async def test_tree_waits_for_a_failed_job_that_can_be_retried(line: Line, tmp_path: Path) -> None:
    """The failure does not fail the task before all its jobs are made."""
    await line.lay(tmp_path, files=15, retry=1)
    gather(line, "b", "tree")
    await line.send("a", "b")
    pilot = await line.stage.add_pilot()
    jobs = await line.stage.lease(pilot, 15)
    await line.stage.finish(pilot, *jobs[:14])
    own = await line.stage.lease(pilot, 4)
    await line.stage.fail(pilot, own[1], error=ErrorClass.TOOL_REFUSED)
    await line.stage.finish(pilot, own[0], *own[2:])
    assert await line.seqs("b") == [0, 1, 2, 3]
    assert (await retry_job(line.stage.context, own[1].id)).state is JobState.READY
    await line.stage.finish(pilot, jobs[14])
    await line.split()
    await line.run_all(pilot)
    assert await line.state("b") is TaskState.FINISHED
    await deliver(line.stage, line.dms)
    [file] = (await line.dms.list_files(line.steps["b"].main_output.dat_out_uid)).files
    assert file.meta["files"] == 15
