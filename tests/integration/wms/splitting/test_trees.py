"""Merges in levels read the outputs of the level before, until one file is left."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.naming import output_name
from sluice.contracts.common.states import ErrorClass, JobState, TaskMode, TaskState
from sluice.contracts.jobs.tasks import NextInput, Task
from sluice.contracts.templates.plan import MergeGroups
from tests.integration.wms.splitting.split_tasks import (
    DyingDmsClient,
    ProcessKilled,
    accept_new_task,
    make_dataset,
)
from tests.integration.wms.wms_fixture import WmsFixture, make_draft, make_task
from wms.db.jobs.leases import ClaimedJob
from wms.db.jobs.splitting import SplitPlace
from wms.domain.splitting.tree_merge import SPAN
from wms.usecases.splitting.split_waiting_tasks import split_waiting_tasks
from wms.usecases.tasks.cancel_task import cancel_task


async def make_tree_task(
    wms: WmsFixture, dms: DmsClient, folder: Path, *, files: int, group: int, **more: Any
) -> Task:
    uid = await make_dataset(dms, folder, files=files)
    groups = MergeGroups(files=group, tree=True)
    return await accept_new_task(
        wms,
        make_task(dat_in_uid=uid, mode=TaskMode.MERGE, groups=groups, parts_uid=uuid4(), **more),
    )


async def list_job_inputs(wms: WmsFixture, task: Task) -> list[tuple[int, list[int]]]:
    """Return the sequence number of each job with those of its inputs."""
    async with wms.database.connection() as connection:
        rows: Sequence[Any] = await connection.fetch(
            "SELECT seq, inputs FROM jobs WHERE task_uid = $1 ORDER BY seq", task.uid
        )
    return [(row["seq"], [file["seq"] for file in row["inputs"]]) for row in rows]


async def run_all(wms: WmsFixture, dms: DmsClient, pilot: UUID, *, page: int = 2000) -> None:
    """Split and finish jobs until no work is left."""
    while True:
        await split_waiting_tasks(wms.context, dms, page=page)
        jobs = await wms.lease(pilot, 100)
        if not jobs:
            return
        await wms.finish(pilot, *reversed(jobs))


@pytest.mark.parametrize("page", [1, 3, 2000])
async def test_tree_merges_level_by_level_into_one_file(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, page: int
) -> None:
    """Invariant 8: the last job covers all files in order, in whatever order the jobs end."""
    task = await make_tree_task(wms, dms, tmp_path, files=7, group=2)
    await run_all(wms, dms, await wms.add_pilot(), page=page)
    assert await list_job_inputs(wms, task) == [
        (0, [0, 1]),
        (1, [2, 3]),
        (2, [4, 5]),
        (3, [6]),
        (SPAN, [0, 1]),
        (SPAN + 1, [2, 3]),
        (2 * SPAN, [SPAN, SPAN + 1]),
    ]
    status, sent = await wms.status(task), await wms.sent_messages()
    assert (status.state, status.total, status.finished) == (TaskState.FINISHED, 7, 7)
    assert sorted(sent.files[task.parts_uid or uuid4()]) == [
        (seq, output_name(seq, 1, "events")) for seq in (0, 1, 2, 3, SPAN, SPAN + 1)
    ]
    assert sent.files[task.main_output.dat_out_uid] == [(0, output_name(2 * SPAN, 1, "events"))]
    assert [
        sent.close_at[uid]
        for uid in (task.parts_uid, task.main_output.dat_out_uid, task.log_out_uid)
        if uid
    ] == [[6], [1], [7]]
    (last,) = [
        file
        for message in sent.messages
        if message.dataset_uid == task.main_output.dat_out_uid
        for file in message.files
    ]
    assert last.meta == {"first_seq": 0, "last_seq": 6, "files": 7}
    async with wms.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM tree_parts") == 0
        assert await connection.fetchval("SELECT count(*) FROM tree_levels") == 0


@pytest.mark.parametrize(
    ("files", "group", "levels"),
    [(0, 2, [1]), (1, 2, [1]), (3, 3, [1]), (4, 3, [2, 1]), (9, 3, [3, 1]), (10, 3, [4, 2, 1])],
)
async def test_tree_has_as_many_levels_and_jobs_as_it_needs(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, files: int, group: int, levels: list[int]
) -> None:
    task = await make_tree_task(wms, dms, tmp_path, files=files, group=group)
    await run_all(wms, dms, await wms.add_pilot())
    assert (await wms.status(task)).total == sum(levels)
    sent = await wms.sent_messages()
    assert sent.files[task.main_output.dat_out_uid] == [
        (0, output_name((len(levels) - 1) * SPAN, 1, "events"))
    ]


async def test_tree_over_an_empty_data_set_is_one_job_without_inputs(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    """Invariants 3 and 7: a killed splitter and a lost attempt add no second file."""
    task = await make_tree_task(wms, dms, tmp_path, files=0, group=2)
    with pytest.raises(ProcessKilled):
        await split_waiting_tasks(wms.context, DyingDmsClient(dms, pages=0))
    await wms.execute("UPDATE tasks SET split_until = now(), split_checked_at = NULL")
    await split_waiting_tasks(wms.context, dms)
    pilot = await wms.add_pilot()
    await wms.backdate_leases(*await wms.lease(pilot))
    await wms.expire_leases()
    await run_all(wms, dms, pilot)
    assert await list_job_inputs(wms, task) == [(0, [])]
    status, sent = await wms.status(task), await wms.sent_messages()
    assert (status.state, status.total, status.finished) == (TaskState.FINISHED, 1, 1)
    assert sent.files[task.main_output.dat_out_uid] == [(0, output_name(0, 2, "events"))]
    assert [
        sent.close_at[uid] for uid in (task.parts_uid, task.main_output.dat_out_uid) if uid
    ] == [[0], [1]]


async def test_failed_job_of_an_empty_data_set_fails_the_task(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    task = await make_tree_task(wms, dms, tmp_path, files=0, group=2, retry=1)
    await split_waiting_tasks(wms.context, dms)
    pilot = await wms.add_pilot()
    await wms.fail(pilot, *await wms.lease(pilot), error=ErrorClass.TOOL_REFUSED)
    assert (await wms.status(task)).state is TaskState.FAILED


@pytest.mark.parametrize("files", [0, 3])
async def test_tree_reads_several_data_sets_that_may_be_empty(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, files: int
) -> None:
    next_input = NextInput(dat_in_uid=await make_dataset(dms, tmp_path, files=0))
    task = await make_tree_task(wms, dms, tmp_path, files=files, group=2, next_inputs=[next_input])
    await run_all(wms, dms, await wms.add_pilot())
    status, sent = await wms.status(task), await wms.sent_messages()
    assert (status.state, status.total) == (TaskState.FINISHED, 3 if files else 1)
    assert len(sent.files[task.main_output.dat_out_uid]) == 1


async def test_job_that_ends_during_splitting_is_not_taken_for_the_last_job(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    """The first page has the only job so far, but the data set is known to go on."""
    task = await make_tree_task(wms, dms, tmp_path, files=3, group=2)
    pilot = await wms.add_pilot()
    await wms.add_page(
        task, [make_draft(0, [0, 1])], place=SplitPlace(skip=2, group=1, last_seq=0), last=False
    )
    await wms.finish(pilot, *await wms.lease(pilot))
    await wms.execute(
        "UPDATE tasks SET split_until = now(), split_checked_at = NULL WHERE uid = $1", task.uid
    )
    await run_all(wms, dms, pilot)
    assert [seqs for _, seqs in await list_job_inputs(wms, task)] == [[0, 1], [2], [0, 1]]
    assert (await wms.sent_messages()).files[task.main_output.dat_out_uid] == [
        (0, output_name(SPAN, 1, "events"))
    ]


async def test_repeated_and_late_reports_add_no_parts(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    """Invariant 3: the next level reads each part once."""
    task = await make_tree_task(wms, dms, tmp_path, files=4, group=2)
    pilot = await wms.add_pilot()
    await split_waiting_tasks(wms.context, dms)
    jobs = await wms.lease(pilot, 2)
    await wms.finish(pilot, jobs[0], jobs[0])
    await wms.finish(pilot, jobs[0])
    await wms.finish(pilot, jobs[1])
    await wms.finish(pilot, *jobs)
    await run_all(wms, dms, pilot)
    assert (await list_job_inputs(wms, task))[2:] == [(SPAN, [0, 1])]
    assert (await wms.status(task)).state is TaskState.FINISHED


@pytest.mark.parametrize("level", [0, 1])
async def test_failed_job_of_any_level_fails_the_task(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, level: int
) -> None:
    task = await make_tree_task(wms, dms, tmp_path, files=8, group=2, retry=1)
    pilot = await wms.add_pilot()
    await split_waiting_tasks(wms.context, dms)
    for _ in range(level):
        await wms.finish(pilot, *await wms.lease(pilot, 100))
    first, *_ = await wms.lease(pilot, 100)
    await wms.fail(pilot, first, error=ErrorClass.TOOL_REFUSED)
    assert (await wms.status(task)).state is TaskState.FAILED
    sent = await wms.sent_messages()
    assert sent.close_at[task.main_output.dat_out_uid] == [0]
    assert sent.files[task.main_output.dat_out_uid] == []
    assert sent.close_at[task.parts_uid or uuid4()] == [4 * level]


async def test_tree_canceled_while_it_grows_gets_no_more_jobs(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    task = await make_tree_task(wms, dms, tmp_path, files=8, group=2)
    pilot = await wms.add_pilot()
    await split_waiting_tasks(wms.context, dms)
    await wms.finish(pilot, *await wms.lease(pilot, 100))
    await cancel_task(wms.context, task.uid)
    await split_waiting_tasks(wms.context, dms)
    assert (await wms.status(task)).state is TaskState.CANCELED
    assert await wms.states(task) == {JobState.FINISHED: 4, JobState.CANCELED: 2}


async def test_parts_are_joined_as_soon_as_all_of_a_group_exist(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    """Other jobs of the level may still run, and only neighbours are joined."""
    task = await make_tree_task(wms, dms, tmp_path, files=16, group=2)
    pilot = await wms.add_pilot()
    await split_waiting_tasks(wms.context, dms)
    jobs = await wms.lease(pilot, 8)
    await wms.finish(pilot, jobs[0], jobs[2], jobs[3])
    assert (await list_job_inputs(wms, task))[8:] == []
    await wms.finish(pilot, jobs[1])
    assert (await list_job_inputs(wms, task))[8:] == [(SPAN, [0, 1])], (
        "a group was joined that may be the last"
    )
    await wms.finish(pilot, jobs[4])
    assert (await list_job_inputs(wms, task))[9:] == [(SPAN + 1, [2, 3])]
    [first, second] = await wms.lease(pilot, 2)
    await wms.finish(pilot, second)
    await wms.finish(pilot, first)
    assert (await list_job_inputs(wms, task))[10:] == [], (
        "two parts were joined that may be the last"
    )
    await wms.finish(pilot, *jobs[5:])
    assert (await list_job_inputs(wms, task))[10:] == [(SPAN + 2, [4, 5]), (SPAN + 3, [6, 7])]
    await run_all(wms, dms, pilot)
    assert (await wms.status(task)).total == 8 + 4 + 2 + 1
    assert (await wms.sent_messages()).files[task.main_output.dat_out_uid] == [
        (0, output_name(3 * SPAN, 1, "events"))
    ]


@pytest.mark.parametrize("seed", range(8))
async def test_tree_is_the_same_in_any_order_of_ends(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, seed: int
) -> None:
    """Invariants 3 and 8: jobs fail and are retried while the first level is still being made."""
    random = Random(seed)
    files, group = random.randint(2, 23), random.randint(2, 4)
    task = await make_tree_task(
        wms, dms, tmp_path, files=files, group=group, retry=100, backoff=0.0
    )
    pilot, jobs = await wms.add_pilot(), list[ClaimedJob]()
    with suppress(ProcessKilled):
        await split_waiting_tasks(
            wms.context, DyingDmsClient(dms, pages=random.randint(0, 3)), page=2
        )
    await wms.execute("UPDATE tasks SET split_until = now(), split_checked_at = NULL")
    while not (await wms.status(task)).state.final:
        jobs += await wms.lease(pilot, random.randint(1, 5))
        random.shuffle(jobs)
        ended, jobs = jobs[:3], jobs[3:]
        await (wms.fail if random.random() < 0.2 else wms.finish)(pilot, *ended)
        if random.random() < 0.4:
            await split_waiting_tasks(wms.context, dms, page=2)
    assert await list_job_inputs(wms, task) == make_expected_tree(files, group)
    [last] = (await wms.sent_messages()).files[task.main_output.dat_out_uid]
    assert last[0] == 0


def make_expected_tree(files: int, group: int) -> list[tuple[int, list[int]]]:
    """Return the expected jobs: groups of the level before, until one job is left."""
    entries, level, joins = list(range(files)), 0, list[tuple[int, list[int]]]()
    while True:
        groups = [entries[at : at + group] for at in range(0, len(entries), group)]
        jobs = [(level * SPAN + number, inside) for number, inside in enumerate(groups)]
        joins += jobs
        if len(jobs) == 1:
            return joins
        entries, level = [seq for seq, _ in jobs], level + 1
