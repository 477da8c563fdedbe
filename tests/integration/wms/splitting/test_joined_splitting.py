"""Files of several data sets become jobs, with the real DMS."""

import json
from pathlib import Path
from uuid import UUID

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import InputMode, Pick, TaskMode, TaskState
from sluice.contracts.jobs.tasks import NextInput, Task
from sluice.contracts.templates.plan import MergeGroups
from tests.integration.wms.splitting.joined_inputs import list_job_inputs, make_side_input
from tests.integration.wms.splitting.split_tasks import (
    DyingDmsClient,
    ProcessKilled,
    accept_new_task,
    make_dataset,
)
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.usecases.splitting.split_waiting_tasks import split_waiting_tasks


async def list_shared_inputs(wms: WmsFixture, task: Task) -> list[tuple[str, int]]:
    """Return port and number of each file that all jobs get, as a pilot is told."""
    pilot = await wms.add_pilot()
    leased = await wms.request_lease(pilot)
    assert len(leased.jobs) == 1
    text = leased.shared.get(task.uid)
    return [] if text is None else [(file["port"], file["seq"]) for file in json.loads(text)]


@pytest.mark.parametrize("page", [1, 2, 3, 50])
async def test_files_of_the_same_number_are_paired(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, page: int
) -> None:
    """Invariant 8: a job needs all required files, and may lack an optional file."""
    first = await make_dataset(dms, tmp_path / "a", files=6, seqs=[0, 1, 2, 3, 5, 7])
    needed = await make_dataset(dms, tmp_path / "b", files=5, seqs=[0, 2, 3, 5, 6])
    optional_dataset = await make_dataset(dms, tmp_path / "c", files=2, seqs=[2, 7])
    shared = await make_dataset(dms, tmp_path / "d", files=1)
    sides = [
        make_side_input("all", shared, InputMode.ONE),
        make_side_input("b", needed, InputMode.EACH),
        make_side_input("c", optional_dataset, InputMode.EACH, optional=True),
    ]
    task = await accept_new_task(wms, make_task(dat_in_uid=first, side_inputs=sides))
    await split_waiting_tasks(wms.context, dms, page=page)
    assert await list_job_inputs(wms, task) == [
        (0, [("", 0), ("b", 0)]),
        (2, [("", 2), ("b", 2), ("c", 2)]),
        (3, [("", 3), ("b", 3)]),
        (5, [("", 5), ("b", 5)]),
    ]
    assert await list_shared_inputs(wms, task) == [("all", 0)]
    assert (await wms.status(task)).state is TaskState.ACTIVE


async def test_splitter_killed_while_reading_several_data_sets_makes_no_duplicates(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    """Invariant 7: another splitter reads from the beginning and skips files that have jobs."""
    first, second = [await make_dataset(dms, tmp_path / name, files=20) for name in "ab"]
    task = await accept_new_task(
        wms, make_task(dat_in_uid=first, side_inputs=[make_side_input("b", second, InputMode.EACH)])
    )
    totals = []
    for pages in range(1, 20):
        try:
            await split_waiting_tasks(wms.context, DyingDmsClient(dms, pages=pages), page=3)
        except ProcessKilled:
            await wms.execute("UPDATE tasks SET split_until = now(), split_checked_at = NULL")
        totals.append((await wms.status(task)).total)
    assert 0 < totals[5] < 20
    assert await list_job_inputs(wms, task) == [(n, [("", n), ("b", n)]) for n in range(20)]


async def test_groups_of_a_merge_get_a_second_data_set_whole(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    first, second = [
        await make_dataset(dms, tmp_path / name, files=files)
        for name, files in (("a", 5), ("b", 3))
    ]
    groups = MergeGroups(files=3)
    sides = [make_side_input("b", second, InputMode.ALL)]
    task = await accept_new_task(
        wms, make_task(dat_in_uid=first, mode=TaskMode.MERGE, groups=groups, side_inputs=sides)
    )
    await split_waiting_tasks(wms.context, dms, page=2)
    assert await list_job_inputs(wms, task) == [
        (0, [("", 0), ("", 1), ("", 2)]),
        (1, [("", 3), ("", 4)]),
    ]
    assert await list_shared_inputs(wms, task) == [("b", 0), ("b", 1), ("b", 2)]


async def test_map_gives_a_whole_data_set_to_every_job(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    """The data set is stored once, and a pilot gets it with the task."""
    first, second = [
        await make_dataset(dms, tmp_path / name, files=files)
        for name, files in (("a", 3), ("b", 3))
    ]
    task = await accept_new_task(
        wms, make_task(dat_in_uid=first, side_inputs=[make_side_input("b", second, InputMode.ALL)])
    )
    await split_waiting_tasks(wms.context, DyingDmsClient(dms, pages=3), page=2)
    assert await list_job_inputs(wms, task) == [(n, [("", n)]) for n in range(3)]
    assert await list_shared_inputs(wms, task) == [("b", 0), ("b", 1), ("b", 2)]
    lease = await wms.request_lease(await wms.add_pilot(), known_tasks=[task.uid])
    assert (len(lease.jobs), lease.shared) == (1, {})


@pytest.mark.parametrize(
    ("files", "reason"), [(2, "takes at most 1 file; the data set has 2"), (0, "is empty")]
)
async def test_shared_input_of_a_single_file_must_have_one_file(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, files: int, reason: str
) -> None:
    first = await make_dataset(dms, tmp_path / "a", files=3)
    shared = await make_dataset(dms, tmp_path / "b", files=files)
    task = await accept_new_task(
        wms, make_task(dat_in_uid=first, side_inputs=[make_side_input("b", shared, InputMode.ONE)])
    )
    await split_waiting_tasks(wms.context, dms)
    status = await wms.status(task)
    assert status.state is TaskState.FAILED
    assert reason in status.reason


@pytest.mark.parametrize(("files", "inputs"), [(1, [("", 0)]), (0, [])])
async def test_single_values_make_one_job_also_without_a_file(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, files: int, inputs: list[tuple[str, int]]
) -> None:
    first = await make_dataset(dms, tmp_path / "a", files=files)
    none = await make_dataset(dms, tmp_path / "b", files=0)
    sides = [make_side_input("b", none, InputMode.ONE, optional=True)]
    task = await accept_new_task(
        wms, make_task(dat_in_uid=first, dat_in_optional=True, single=True, side_inputs=sides)
    )
    await split_waiting_tasks(wms.context, dms)
    assert await list_job_inputs(wms, task) == [(0, inputs)]
    assert (await wms.status(task)).state is TaskState.ACTIVE


@pytest.mark.parametrize(
    ("files", "reason"), [(2, "takes at most 1 file; the data set has 2"), (0, "is empty")]
)
async def test_required_single_value_must_have_one_file(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, files: int, reason: str
) -> None:
    first = await make_dataset(dms, tmp_path / "a", files=files)
    task = await accept_new_task(wms, make_task(dat_in_uid=first, single=True))
    await split_waiting_tasks(wms.context, dms)
    status = await wms.status(task)
    assert (status.state, status.total) == (TaskState.FAILED, 0)
    assert reason in status.reason


async def test_task_waits_for_every_data_set(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    first = await make_dataset(dms, tmp_path / "a", files=2)
    late = await make_dataset(dms, tmp_path / "b", files=2, close=False)
    task = await accept_new_task(
        wms, make_task(dat_in_uid=first, side_inputs=[make_side_input("b", late, InputMode.EACH)])
    )
    await split_waiting_tasks(wms.context, dms)
    assert "still open, with 2 files so far" in (await wms.status(task)).reason
    await dms.close_dataset(late)
    await split_waiting_tasks(wms.context, dms)
    assert (await wms.status(task)).total == 2


def make_chain_inputs(*uids: UUID, stride: int = 100) -> list[NextInput]:
    return [
        NextInput(dat_in_uid=uid, start=stride * (number + 1)) for number, uid in enumerate(uids)
    ]


@pytest.mark.parametrize("page", [1, 2, 50])
async def test_consecutive_data_sets_keep_their_pairs(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, page: int
) -> None:
    """Invariant 8: the pairs stay although a filter left out files."""
    a, b, c = [
        await make_dataset(dms, tmp_path / name, files=len(seqs), seqs=seqs)
        for name, seqs in (("a", [0, 1, 2, 3]), ("b", [0, 2]), ("c", [1, 2]))
    ]
    pairs = make_side_input("b", b, InputMode.EACH).model_copy(
        update={"next_inputs": make_chain_inputs(c)}
    )
    task = await accept_new_task(
        wms, make_task(dat_in_uid=a, next_inputs=make_chain_inputs(a), side_inputs=[pairs])
    )
    await split_waiting_tasks(wms.context, dms, page=page)
    assert await list_job_inputs(wms, task) == [(n, [("", n), ("b", n)]) for n in (0, 2, 101, 102)]


async def test_merge_reads_data_sets_one_after_the_other(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    a, b = [await make_dataset(dms, tmp_path / name, files=3) for name in "ab"]
    further = [NextInput(dat_in_uid=uid) for uid in (b, a)]
    task = make_task(
        dat_in_uid=a, mode=TaskMode.MERGE, groups=MergeGroups(files=4), next_inputs=further
    )
    await accept_new_task(wms, task)
    await split_waiting_tasks(wms.context, dms, page=2)
    assert await list_job_inputs(wms, task) == [
        (0, [("", 0), ("", 1), ("", 2), ("", 0)]),
        (1, [("", 1), ("", 2), ("", 0), ("", 1)]),
        (2, [("", 2)]),
    ]


async def accept_picking_tasks(
    wms: WmsFixture, dms: DmsClient, folder: Path, *, files: tuple[int, int], pick: Pick
) -> tuple[Task, Task]:
    """Return a task whose jobs are made of the picked file, and a task whose jobs share it."""
    a, b = [await make_dataset(dms, folder / str(n), files=count) for n, count in enumerate(files)]
    main = make_task(dat_in_uid=a, next_inputs=[NextInput(dat_in_uid=b)], pick=pick)
    shared_input = make_side_input("b", a, InputMode.ONE).model_copy(
        update={"next_inputs": [NextInput(dat_in_uid=b)], "pick": pick}
    )
    other = await make_dataset(dms, folder / "x", files=1)
    sharing = make_task(dat_in_uid=other, side_inputs=[shared_input])
    tasks = await accept_new_task(wms, main), await accept_new_task(wms, sharing)
    await split_waiting_tasks(wms.context, dms)
    return tasks


@pytest.mark.parametrize(("files", "pick"), [((0, 3), Pick.FIRST), ((0, 1), Pick.ONLY)])
async def test_one_file_is_picked_from_several_data_sets(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, files: tuple[int, int], pick: Pick
) -> None:
    """The picked file makes the job, or all jobs share it."""
    main, sharing = await accept_picking_tasks(wms, dms, tmp_path, files=files, pick=pick)
    assert await list_job_inputs(wms, main) == [(0, [("", 0)])]
    pilot = await wms.add_pilot()
    leased = await wms.request_lease(pilot, 2)
    assert {job.task_uid for job in leased.jobs} == {main.uid, sharing.uid}
    shared_files = json.loads(leased.shared[sharing.uid])
    assert [(file["port"], file["seq"]) for file in shared_files] == [("b", 0)]


@pytest.mark.parametrize(
    ("files", "pick", "reason"),
    [
        ((1, 1), Pick.ONLY, "takes the only file of"),
        ((0, 0), Pick.FIRST, "none of them has a file"),
    ],
)
async def test_task_fails_if_no_file_can_be_picked(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, files: tuple[int, int], pick: Pick, reason: str
) -> None:
    for task in await accept_picking_tasks(wms, dms, tmp_path, files=files, pick=pick):
        status = await wms.status(task)
        assert status.state is TaskState.FAILED
        assert reason in status.reason


async def test_number_beyond_the_range_of_its_data_set_fails_the_task(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    a = await make_dataset(dms, tmp_path / "a", files=2, seqs=[0, 100])
    task = await accept_new_task(wms, make_task(dat_in_uid=a, next_inputs=make_chain_inputs(a)))
    await split_waiting_tasks(wms.context, dms)
    status = await wms.status(task)
    assert status.state is TaskState.FAILED
    assert (
        "has the number 100: in concatenated data sets, numbers must be below 100" in status.reason
    )
