"""Files of a data set become jobs, with the real DMS."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import JobState, TaskMode, TaskState
from sluice.contracts.templates.plan import Boundary, MergeGroups
from tests.integration.wms.splitting.split_tasks import (
    DyingDmsClient,
    ProcessKilled,
    accept_new_task,
    list_jobs,
    make_dataset,
)
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.usecases.splitting.split_waiting_tasks import split_waiting_tasks
from wms.usecases.tasks.cancel_task import cancel_task


async def test_map_makes_a_job_for_each_file_in_order(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    """Invariant 8: a job has the number of its file, gaps included."""
    seqs = [0, 1, 5, 7, 100, 101]
    uid = await make_dataset(dms, tmp_path, files=6, seqs=seqs)
    task = await accept_new_task(wms, make_task(dat_in_uid=uid))
    await split_waiting_tasks(wms.context, dms, page=4)
    assert await list_jobs(wms, task) == [(seq, [f"f{n:05}"]) for n, seq in enumerate(seqs)]
    status = await wms.status(task)
    assert (status.state, status.total, status.ready) == (TaskState.ACTIVE, 6, 6)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (MergeGroups(), [25]),
        (MergeGroups(files=10), [10, 10, 5]),
        (MergeGroups(files=1), [1] * 25),
        (MergeGroups(files=25), [25]),
        (MergeGroups(files=5, tree=True), [5] * 5),
        (MergeGroups(files=10, tree=True), [10, 10, 5]),
        (MergeGroups(bytes=400), [3, 3, 3, 3, 3, 3, 3, 3, 1]),
        (MergeGroups(bytes=1), [1] * 25),
    ],
)
async def test_merge_groups_are_the_same_after_a_kill_at_every_page(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, groups: MergeGroups, expected: list[int]
) -> None:
    """Invariants 7 and 8: the jobs are those of a run without kills."""
    uid = await make_dataset(dms, tmp_path, files=25)
    task = await accept_new_task(wms, make_task(dat_in_uid=uid, mode=TaskMode.MERGE, groups=groups))
    killed_count = 0
    for pages in range(1, 10):
        try:
            await split_waiting_tasks(wms.context, DyingDmsClient(dms, pages=pages), page=4)
        except ProcessKilled:
            killed_count += 1
            await wms.execute("UPDATE tasks SET split_until = now(), split_checked_at = NULL")
    jobs = await list_jobs(wms, task)
    assert killed_count >= 2
    assert [len(files) for _, files in jobs] == expected
    assert [seq for seq, _ in jobs] == list(range(len(expected)))
    assert [name for _, files in jobs for name in files] == [f"f{n:05}" for n in range(25)]
    assert (await wms.status(task)).state is TaskState.ACTIVE


async def test_map_killed_at_every_page_makes_no_duplicate_jobs(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    """Invariant 7: another splitter continues."""
    uid = await make_dataset(dms, tmp_path, files=25)
    task = await accept_new_task(wms, make_task(dat_in_uid=uid))
    for _ in range(7):
        with pytest.raises(ProcessKilled):
            await split_waiting_tasks(wms.context, DyingDmsClient(dms, pages=1), page=3)
        await wms.execute("UPDATE tasks SET split_until = now(), split_checked_at = NULL")
    assert 0 < (await wms.status(task)).total < 25
    assert len(await wms.lease(await wms.add_pilot(), 5)) == 5  # The jobs run during the splitting.
    await split_waiting_tasks(wms.context, dms, page=3)
    assert [seq for seq, _ in await list_jobs(wms, task)] == list(range(25))


async def test_many_splitters_make_every_job_once(
    wms: WmsFixture, other_wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    """Invariant 7: several splitters run at the same time."""
    uid = await make_dataset(dms, tmp_path, files=40)
    tasks = [await accept_new_task(wms, make_task(dat_in_uid=uid)) for _ in range(5)]
    await asyncio.gather(
        *(split_waiting_tasks(at.context, dms, page=7) for at in (wms, other_wms) for _ in range(3))
    )
    for task in tasks:
        assert [seq for seq, _ in await list_jobs(wms, task)] == list(range(40))


async def test_task_waits_for_an_open_data_set_with_the_reason(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    uid = await make_dataset(dms, tmp_path, files=3, close=False)
    task = await accept_new_task(wms, make_task(dat_in_uid=uid))
    await split_waiting_tasks(wms.context, dms)
    status = await wms.status(task)
    assert status.state is TaskState.WAITING
    assert status.reason.endswith("it is still open, with 3 files so far")
    await dms.close_dataset(uid)
    await split_waiting_tasks(wms.context, dms)
    assert (await wms.status(task)).reason == ""
    assert (await wms.status(task)).total == 3


async def test_unknown_or_deleted_input_fails_the_task(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    unknown = await accept_new_task(wms, make_task())
    orphan_task = await accept_new_task(
        wms, make_task(dat_in_uid=await make_dataset(dms, tmp_path, files=1))
    )
    await dms.delete_dataset(orphan_task.main_input.dat_in_uid, force=True)
    await split_waiting_tasks(wms.context, dms)
    for task, sentence in ((unknown, "unknown to the DMS"), (orphan_task, "has been deleted")):
        status = await wms.status(task)
        assert (status.state, status.total) == (TaskState.FAILED, 0)
        assert sentence in status.reason
        assert (await wms.sent_messages()).close_at[task.main_output.dat_out_uid] == [0]


async def test_empty_input_gives_an_empty_output_or_a_merge_of_no_files(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    uid = await make_dataset(dms, tmp_path, files=0)
    map_, groups, merge = [
        await accept_new_task(wms, make_task(dat_in_uid=uid, mode=mode, groups=groups))
        for mode, groups in (
            (TaskMode.MAP, MergeGroups()),
            (TaskMode.MERGE, MergeGroups(files=3)),
            (TaskMode.MERGE, MergeGroups()),
        )
    ]
    await split_waiting_tasks(wms.context, dms)
    for task in (map_, groups):
        status = await wms.status(task)
        assert (status.state, status.total) == (TaskState.FINISHED, 0)
        assert "has no files" in status.reason
        assert (await wms.sent_messages()).close_at[task.main_output.dat_out_uid] == [0]
    assert await list_jobs(wms, merge) == [(0, [])]


async def test_equal_sequence_numbers_fail_the_task(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    """Invariant 8 cannot hold for such an input."""
    task = await accept_new_task(
        wms, make_task(dat_in_uid=await make_dataset(dms, tmp_path, files=3, seqs=[1, 2, 2]))
    )
    await split_waiting_tasks(wms.context, dms)
    status = await wms.status(task)
    assert status.state is TaskState.FAILED
    assert "two files with sequence number 2, one of them f00002" in status.reason


async def test_task_canceled_during_splitting_gets_no_more_jobs(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    """Invariant 5: a final task stays final, however far its splitting was."""
    task = await accept_new_task(
        wms, make_task(dat_in_uid=await make_dataset(dms, tmp_path, files=10))
    )

    class CancelingDmsClient(DmsClient):
        async def list_files(self, uid: UUID, **changes: Any) -> Any:
            page = await dms.list_files(uid, **changes)
            if changes["after"] is not None:
                await cancel_task(wms.context, task.uid)
            return page

    await split_waiting_tasks(wms.context, CancelingDmsClient(dms._http), page=4)
    status = await wms.status(task)
    assert (status.state, status.total, status.canceled) == (TaskState.CANCELED, 4, 4)
    assert await wms.states(task) == {JobState.CANCELED: 4}


async def test_boundary_is_judged_only_after_splitting(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    """Jobs that ended during the splitting count once all jobs exist."""
    task = make_task(
        dat_in_uid=await make_dataset(dms, tmp_path, files=10),
        retry=1,
        boundary=Boundary(minimum=0.8, sufficient=1.0),
    )
    await accept_new_task(wms, task)
    with pytest.raises(ProcessKilled):
        await split_waiting_tasks(wms.context, DyingDmsClient(dms, pages=1), page=4)
    pilot = await wms.add_pilot()
    await wms.fail(pilot, *await wms.lease(pilot, 4))
    assert (await wms.status(task)).state is TaskState.SPLITTING
    await wms.execute("UPDATE tasks SET split_until = now(), split_checked_at = NULL")
    await split_waiting_tasks(wms.context, dms, page=4)
    status = await wms.status(task)
    assert (status.state, status.failed, status.canceled) == (TaskState.FAILED, 4, 6)
