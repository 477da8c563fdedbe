"""Lists of values and cross products become jobs, with the real DMS."""

import json
import tracemalloc
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import InputMode, TaskState
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.jobs.resources import Amounts
from sluice.contracts.jobs.tasks import Task, TaskInput
from sluice.contracts.pilots.leases import FreeCapacity, LeasedJob, LeaseRequest
from tests.integration.wms.splitting.split_tasks import (
    DyingDmsClient,
    ProcessKilled,
    accept_new_task,
    make_dataset,
)
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.tasks.status import get_job_with_attempts
from wms.usecases.leasing.lease_jobs import lease_jobs
from wms.usecases.splitting.split_waiting_tasks import split_waiting_tasks

#: Port, and number or place, of each input of a job.
InputPairs = list[tuple[str, int]]


def make_value_fields(dataset: UUID, **lists: list[Any]) -> dict[str, Any]:
    """Return the fields of a task whose jobs are made of these lists only."""
    main = TaskInput(port="", dat_in_uid=dataset, mode=InputMode.NONE)
    needs = Needs(items=list(lists))
    return {"inputs": [main], "needs": needs, "args": {"fixed": 1, **lists}}


def make_task_with(fields: dict[str, Any], **more: Any) -> Task:
    """Return a task with these fields, and otherwise as ``make_task`` makes it."""
    return make_task().model_copy(update={**fields, **more})


async def read_inputs_by_job(wms: WmsFixture, task: Task) -> list[tuple[int, InputPairs]]:
    async with wms.database.connection() as connection:
        rows: list[Any] = await connection.fetch(
            "SELECT seq, inputs FROM jobs WHERE task_uid = $1 ORDER BY id", task.uid
        )
    return [
        (
            row["seq"],
            [(each.get("port", ""), each.get("place", each["seq"])) for each in row["inputs"]],
        )
        for row in rows
    ]


async def list_names_by_job(wms: WmsFixture, task: Task) -> list[list[str]]:
    async with wms.database.connection() as connection:
        rows: list[Any] = await connection.fetch(
            "SELECT inputs FROM jobs WHERE task_uid = $1 ORDER BY id", task.uid
        )
    return [[each["name"] for each in row["inputs"]] for row in rows]


async def make_files(dms: DmsClient, folder: Path, name: str, seqs: list[int]) -> UUID:
    return await make_dataset(dms, folder / name, files=len(seqs), seqs=seqs)


@pytest.mark.parametrize("page", [1, 3, 50])
async def test_each_value_of_lists_becomes_a_job_with_any_page_size(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, page: int
) -> None:
    """Invariant 8: a job refers to each value by its place in the list."""
    data = await make_dataset(dms, tmp_path, files=1)
    both = make_value_fields(data, share=[0.5, 0.25, 0.125, 1.0], word=["a", "b", "c", "d"])
    task = await accept_new_task(wms, make_task_with(both))
    await split_waiting_tasks(wms.context, dms, page=page)
    assert await read_inputs_by_job(wms, task) == [
        (n, [("share", n), ("word", n)]) for n in range(4)
    ]
    status = await wms.status(task)
    assert (status.state, status.total, status.ready) == (TaskState.ACTIVE, 4, 4)


@pytest.mark.parametrize("files", [1, 3])
async def test_step_that_reads_no_data_set_is_a_single_job(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, files: int
) -> None:
    """The files of the chain's data set do not matter, and a repeated split adds no job."""
    data = await make_dataset(dms, tmp_path, files=files)
    task = await accept_new_task(wms, make_task_with(make_value_fields(data), single=True))
    await split_waiting_tasks(wms.context, dms, page=1)
    await split_waiting_tasks(wms.context, dms, page=1)
    assert await read_inputs_by_job(wms, task) == [(0, [])]
    status = await wms.status(task)
    assert (status.state, status.total, status.ready) == (TaskState.ACTIVE, 1, 1)


async def test_empty_list_makes_no_jobs(wms: WmsFixture, dms: DmsClient, tmp_path: Path) -> None:
    data = await make_dataset(dms, tmp_path, files=1)
    task = await accept_new_task(wms, make_task_with(make_value_fields(data, word=[])))
    await split_waiting_tasks(wms.context, dms)
    status = await wms.status(task)
    assert (status.state, status.total) == (TaskState.FINISHED, 0)


async def test_pilot_gets_the_place_with_the_job_and_the_list_with_the_task(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    data = await make_dataset(dms, tmp_path, files=1)
    await accept_new_task(
        wms, make_task_with(make_value_fields(data, word=["a", "b", "c"]), batch=2)
    )
    await split_waiting_tasks(wms.context, dms)
    pilot = await wms.add_pilot()
    free_capacity = FreeCapacity(
        free=Amounts(cores=8, ram=8000, disk=8000), soon=Amounts(cores=8, ram=8000, disk=8000)
    )
    leased = await lease_jobs(
        wms.context, pilot, LeaseRequest(jobs=10, free_capacity=free_capacity)
    )
    jobs = [
        LeasedJob(
            id=job.id,
            attempt=job.attempt,
            task_uid=job.task_uid,
            seq=job.seq,
            inputs=json.loads(job.inputs),
        )
        for job in leased.jobs
    ]
    assert [[(item.seq, item.port) for item in job.inputs] for job in jobs] == [
        [(0, "word"), (1, "word")],
        [(2, "word")],
    ]
    [leased_task] = leased.tasks
    assert json.loads(leased_task.pilot_json)["args"]["word"] == ["a", "b", "c"]
    assert json.loads(leased_task.pilot_json)["needs"]["items"] == ["word"]
    async with wms.database.connection() as connection:
        shown_job = await get_job_with_attempts(connection, jobs[0].id)
    assert shown_job.inputs == ["word[0]", "word[1]"]


@pytest.mark.parametrize("page", [1, 2, 50])
async def test_values_are_paired_with_files_by_place(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, page: int
) -> None:
    """Invariant 8: a job has the number of its file, also if the numbers have gaps."""
    first = await make_files(dms, tmp_path, "a", [3, 5, 6, 9])
    second = await make_files(dms, tmp_path, "b", [3, 5, 6, 9])
    inputs = [
        TaskInput(port="a", dat_in_uid=first, mode=InputMode.EACH),
        TaskInput(port="b", dat_in_uid=second, mode=InputMode.EACH),
    ]
    fields = {**make_value_fields(first, word=["w", "x", "y", "z"]), "inputs": inputs}
    task = await accept_new_task(wms, make_task_with(fields))
    await split_waiting_tasks(wms.context, dms, page=page)
    assert await read_inputs_by_job(wms, task) == [
        (seq, [("", seq), ("b", seq), ("word", place)]) for place, seq in enumerate([3, 5, 6, 9])
    ]


@pytest.mark.parametrize(
    ("second", "words", "reason"),
    [
        ([0, 1], 3, "there are 2 files at 'a' and 2 files at 'b' and 3 values at 'word'"),
        ([0, 1, 2], 2, "there are 2 files at 'a' and 3 files at 'b' and 2 values at 'word'"),
        ([0, 2], 2, "takes 2 values together with files of the same number, but only 1"),
    ],
)
async def test_inputs_of_unequal_length_fail_the_task_with_the_reason(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, second: list[int], words: int, reason: str
) -> None:
    inputs = [
        TaskInput(
            port=port, dat_in_uid=await make_files(dms, tmp_path, port, seqs), mode=InputMode.EACH
        )
        for port, seqs in (("a", [0, 1]), ("b", second))
    ]
    fields = {**make_value_fields(inputs[0].dat_in_uid, word=["w"] * words), "inputs": inputs}
    task = await accept_new_task(wms, make_task_with(fields))
    await split_waiting_tasks(wms.context, dms)
    status = await wms.status(task)
    assert status.state is TaskState.FAILED
    assert reason in status.reason


@pytest.mark.parametrize(("page", "batch"), [(1, 1), (2, 1), (2, 5), (50, 1)])
async def test_cross_product_makes_jobs_row_by_row(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, page: int, batch: int
) -> None:
    """A data set of several pages is read again for each row. A single page is kept."""
    first = await make_files(dms, tmp_path, "a", [4, 7, 8])
    second = await make_files(dms, tmp_path, "b", [0, 9])
    inputs = [
        TaskInput(port="a", dat_in_uid=first, mode=InputMode.EACH),
        TaskInput(port="b", dat_in_uid=second, mode=InputMode.EACH),
    ]
    fields = {**make_value_fields(first, word=["x", "y"]), "inputs": inputs}
    task = await accept_new_task(wms, make_task_with(fields, cross=["b", "word", "a"], batch=batch))
    await split_waiting_tasks(wms.context, dms, page=page)
    rows = [
        sorted([f"f{b:05}", f"f{a:05}", f"word[{word}]"])
        for b in range(2)
        for word in range(2)
        for a in range(3)
    ]
    names = [name for job in await list_names_by_job(wms, task) for name in job]
    assert [sorted(names[n : n + 3]) for n in range(0, len(names), 3)] == rows
    assert [seq for seq, _ in await read_inputs_by_job(wms, task)] == list(range(0, 12, batch))


async def test_splitter_killed_within_a_row_makes_no_duplicate_jobs(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    """Invariant 7: another splitter continues."""
    first, second = [await make_dataset(dms, tmp_path / name, files=5) for name in "ab"]
    inputs = [
        TaskInput(port="a", dat_in_uid=first, mode=InputMode.EACH),
        TaskInput(port="b", dat_in_uid=second, mode=InputMode.EACH),
    ]
    task = await accept_new_task(
        wms, make_task_with({"inputs": inputs, "needs": Needs(), "args": {}}, cross=["a", "b"])
    )
    totals = []
    for pages in range(1, 40):
        try:
            await split_waiting_tasks(wms.context, DyingDmsClient(dms, pages=pages), page=3)
        except ProcessKilled:
            await wms.execute("UPDATE tasks SET split_until = now(), split_checked_at = NULL")
        totals.append((await wms.status(task)).total)
    assert 0 < totals[5] < 25
    assert await read_inputs_by_job(wms, task) == [(n, [("", n), ("b", n)]) for n in range(25)]


async def test_cross_product_with_too_many_jobs_fails_the_task(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    data = await make_dataset(dms, tmp_path, files=1)
    fields = make_value_fields(data, x=list(range(4000)), y=list(range(4000)))
    task = await accept_new_task(wms, make_task_with(fields, cross=["x", "y"]))
    await split_waiting_tasks(wms.context, dms)
    status = await wms.status(task)
    assert status.state is TaskState.FAILED
    assert "4000 of 'x' × 4000 of 'y', and would have 16000000 jobs" in status.reason


async def test_many_values_need_no_more_memory_than_few(wms: WmsFixture, dms: DmsClient) -> None:
    """The list is in memory only once, and the row of a job does not contain the value.

    The data set is the placeholder that a chain over values has.
    """
    placeholder = await dms.register_dataset(NewDataset(name="none", on_demand=True))
    data, peaks = (await dms.close_dataset(placeholder.uid, files=0)).uid, []
    text = "v" * 90
    for count in (100, 100, 10_000):
        values = [f"{number}{text}" for number in range(count)]
        task = await accept_new_task(wms, make_task_with(make_value_fields(data, word=values)))
        async with wms.database.connection() as connection:
            await wms.context.tasks.get(connection, [task.uid])
        tracemalloc.start()
        await split_waiting_tasks(wms.context, dms, page=100)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert (await wms.status(task)).total == count
    assert peaks[2] < 1.5 * peaks[1] + 100_000
    async with wms.database.connection() as connection:
        largest = await connection.fetchval("SELECT max(length(inputs::text)) FROM jobs")
    assert largest < len(text)


@pytest.mark.parametrize("page", [1, 2, 50])
async def test_data_sets_with_different_numbers_are_paired_by_place(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, page: int
) -> None:
    """Invariant 8: a job and all its inputs have the number of its first file."""
    first = await make_files(dms, tmp_path, "a", [3, 5, 6])
    second = await make_files(dms, tmp_path, "b", [0, 1, 7])
    inputs = [
        TaskInput(port="a", dat_in_uid=first, mode=InputMode.EACH),
        TaskInput(port="b", dat_in_uid=second, mode=InputMode.EACH),
    ]
    fields = {**make_value_fields(first, word=["x", "y", "z"]), "inputs": inputs}
    for more in ({}, {"needs": Needs(), "args": {}}):
        task = await accept_new_task(wms, make_task_with({**fields, **more}, by_place=True))
        await split_waiting_tasks(wms.context, dms, page=page)
        assert [seq for seq, _ in await read_inputs_by_job(wms, task)] == [3, 5, 6]
        words = [[f"word[{n}]"] if not more else [] for n in range(3)]
        assert await list_names_by_job(wms, task) == [
            [f"f{n:05}", f"f{n:05}", *word] for n, word in enumerate(words)
        ]
        async with wms.database.connection() as connection:
            rows: list[Any] = await connection.fetch(
                "SELECT seq, inputs FROM jobs WHERE task_uid = $1", task.uid
            )
        assert all(each["seq"] == row["seq"] for row in rows for each in row["inputs"])


async def test_data_sets_of_unequal_size_cannot_be_paired_by_place(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    inputs = [
        TaskInput(
            port=port,
            dat_in_uid=await make_dataset(dms, tmp_path / port, files=files),
            mode=InputMode.EACH,
        )
        for port, files in (("a", 2), ("b", 3))
    ]
    fields = {"inputs": inputs, "needs": Needs(), "args": {}}
    task = await accept_new_task(wms, make_task_with(fields, by_place=True))
    await split_waiting_tasks(wms.context, dms)
    status = await wms.status(task)
    assert (status.state, status.total) == (TaskState.FAILED, 0)
    assert "there are 2 files at 'a' and 3 files at 'b'" in status.reason
