"""Intermediate files go when all downstream tasks have released them (invariants 4 and 7)."""

import asyncio
import shutil
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dms.usecases.removal import remove_released as removing
from dms.usecases.removal.delete_next_dataset import delete_next_dataset
from dms.usecases.removal.remove_released import remove_released
from dms.usecases.removal.sweep_next_folder import sweep_next_folder
from sluice.contracts.common.problems import NotFound, Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType, StorageType
from sluice.contracts.data.datasets import NewFile
from sluice.contracts.messaging.messages import (
    DeleteDataset,
    RegisterFiles,
    ReleaseFiles,
    UploadDataset,
)
from tests.integration.dms.conftest import Dms
from tests.waiting import eventually

TASK, OTHER = UUID(int=1), UUID(int=2)


def make_release(uid: UUID, *seqs: int, task: UUID = TASK, count: int = 1) -> ReleaseFiles:
    return ReleaseFiles(dataset_uid=uid, task_uid=task, downstream_count=count, seqs=list(seqs))


async def list_file_numbers(dms: Dms, uid: UUID) -> list[int]:
    return [file.seq for file in (await dms.client.list_files(uid)).files]


async def list_released_numbers(dms: Dms, uid: UUID) -> list[int]:
    """Return the numbers of the files that the list of files marks as released."""
    files = (await dms.client.list_files(uid, released=True)).files
    return [file.seq for file in files if file.released]


def list_stored_numbers(dms: Dms) -> list[int]:
    """Return the sequence numbers of the files on the storage."""
    return [
        int(path.rpartition("/")[2].split(".")[0])
        for path in dms.files_on(StorageType.INTERMEDIATE)
    ]


async def count_waiting(dms: Dms) -> int:
    """Return the number of files whose replicas wait for removal."""
    return len(await dms.fetch("SELECT 1 FROM removals"))


async def test_released_file_is_removed_and_its_data_set_stays(dms: Dms) -> None:
    uid, files = await dms.create_filled_dataset("between", 5, close=False)
    await dms.apply(make_release(uid, 1, 3))
    assert await list_file_numbers(dms, uid) == [0, 2, 4]
    assert await list_released_numbers(dms, uid) == [1, 3]
    await remove_released(dms.context)
    assert list_stored_numbers(dms) == [0, 2, 4]
    dataset = await dms.client.get_dataset(uid)
    assert (dataset.count_files, dataset.released) == (5, 2)
    assert dataset.bytes == sum(file.size for file in files)
    [storage] = await dms.client.list_storages(type=StorageType.INTERMEDIATE)
    assert storage.used == sum(files[seq].size for seq in (0, 2, 4))
    assert await count_waiting(dms) == 0
    deleted_file = (await dms.client.list_files(uid, released=True)).files[1]
    with pytest.raises(NotFound, match="has been deleted"):
        await dms.client.get_file(uid, deleted_file.id)


async def test_release_time_is_after_the_wait_for_the_data_set(dms: Dms) -> None:
    """The start of the transaction is too early, as the last downstream job may end after it."""
    uid, _ = await dms.create_filled_dataset("between", 1, close=False)

    async def somebody_waits() -> bool:
        rows = await dms.fetch(
            "SELECT 1 FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return bool(rows)

    async with dms.database.transaction() as holding:
        connection = holding.connection
        await connection.execute("SELECT 1 FROM datasets WHERE uid = $1 FOR UPDATE", uid)
        applying = asyncio.create_task(dms.apply(make_release(uid, 0)))
        await eventually(somebody_waits)
        read_at = await connection.fetchval("SELECT clock_timestamp()")
    await applying
    [row] = await dms.fetch("SELECT released_at FROM dataset_files WHERE released_at IS NOT NULL")
    assert row["released_at"] > read_at


async def test_release_delivered_twice_counts_once(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("between")
    for _ in range(2):
        await dms.apply(make_release(uid, 0))
        await remove_released(dms.context)
    assert (await dms.client.get_dataset(uid)).released == 1
    assert await dms.fetch("SELECT * FROM file_reads") == []


async def test_invariant_4_file_stays_until_all_downstream_tasks_release_it(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("between", 4)
    await dms.apply(make_release(uid, 0, 1, 2, count=2))
    await dms.apply(make_release(uid, 0, 1, count=2))
    assert await list_file_numbers(dms, uid) == [0, 1, 2, 3], "a repeated release counted twice"
    await dms.apply(make_release(uid, 1, 3, task=OTHER, count=2))
    await remove_released(dms.context)
    assert await list_file_numbers(dms, uid) == list_stored_numbers(dms) == [0, 2, 3]
    await dms.apply(make_release(uid, 0, 1, 2, task=OTHER, count=2))
    await dms.apply(make_release(uid, 3, count=2))
    assert await list_file_numbers(dms, uid) == []
    assert await dms.fetch("SELECT * FROM file_reads") == []


@pytest.mark.parametrize("count", [1, 2])
async def test_file_registered_after_its_release_does_not_come_back(dms: Dms, count: int) -> None:
    """Messages of two queues arrive in any order."""
    uid = await dms.dataset("between")
    files = [dms.write("between", seq) for seq in range(3)]
    for task in (TASK, OTHER)[:count]:
        await dms.apply(make_release(uid, 0, 2, task=task, count=count))
    await dms.apply(RegisterFiles(dataset_uid=uid, files=files[:2]))
    await dms.apply(RegisterFiles(dataset_uid=uid, files=files[2:], close_at=3))
    assert await list_file_numbers(dms, uid) == [1]
    await remove_released(dms.context)
    assert list_stored_numbers(dms) == [1]
    dataset = await dms.client.get_dataset(uid)
    assert (dataset.state, dataset.count_files, dataset.released) == (DatasetState.CLOSED, 3, 2)


async def test_repeated_registration_does_not_restore_a_released_file(dms: Dms) -> None:
    uid, files = await dms.create_filled_dataset("between", 3, close=False)
    await dms.apply(make_release(uid, 0, 1))
    await remove_released(dms.context)
    await dms.apply(RegisterFiles(dataset_uid=uid, files=files, close_at=3))
    assert await list_file_numbers(dms, uid) == [2]
    dataset = await dms.client.get_dataset(uid)
    assert (dataset.state, dataset.count_files, dataset.released) == (DatasetState.CLOSED, 3, 2)
    assert await remove_released(dms.context) is False
    assert list_stored_numbers(dms) == [2]


@pytest.mark.parametrize("type_", [DatasetType.INPUT, DatasetType.OUTPUT, DatasetType.LOGS])
async def test_invariant_4_only_intermediate_files_are_released(
    dms: Dms, type_: DatasetType
) -> None:
    uid, _ = await dms.create_filled_dataset("kept", type_=type_)
    with pytest.raises(Unprocessable, match="only intermediate data"):
        await dms.apply(make_release(uid, 0))
    assert await list_file_numbers(dms, uid) == [0, 1, 2]


async def test_invariant_4_files_to_be_uploaded_are_not_released(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("output")
    await dms.apply(UploadDataset(uid=uid))
    with pytest.raises(Unprocessable, match="only intermediate data"):
        await dms.apply(make_release(uid, 0))


async def test_release_for_a_deleted_data_set_changes_nothing(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("between")
    await dms.apply(make_release(uid, 0, 7))
    await dms.apply(DeleteDataset(uid=uid))
    await dms.apply(make_release(uid, 1))
    assert await delete_next_dataset(dms.context)
    await dms.apply(make_release(uid, 1))
    await remove_released(dms.context)
    assert (await dms.client.get_dataset(uid)).state is DatasetState.DELETED
    assert dms.files_on(StorageType.INTERMEDIATE) == []
    assert await dms.fetch("SELECT * FROM file_reads") == []
    assert await count_waiting(dms) == 0
    [storage] = await dms.client.list_storages(type=StorageType.INTERMEDIATE)
    assert storage.used == 0


async def test_release_for_an_unknown_data_set_raises_not_found(dms: Dms) -> None:
    with pytest.raises(NotFound):
        await dms.apply(make_release(uuid4(), 0))


async def test_invariant_4_replica_is_kept_until_every_data_set_releases_it(
    dms: Dms,
) -> None:
    """A rerun has taken the files over into another data set."""
    one, files = await dms.create_filled_dataset("one", 2)
    two = await dms.dataset("two")
    await dms.client.register_many_files(two, files)
    await dms.apply(make_release(one, 0, 1))
    await remove_released(dms.context)
    assert list_stored_numbers(dms) == [0, 1]
    await dms.apply(make_release(two, 0))
    await remove_released(dms.context)
    assert list_stored_numbers(dms) == [1]
    await dms.apply(DeleteDataset(uid=one))
    assert await delete_next_dataset(dms.context)
    assert list_stored_numbers(dms) == [1]
    await dms.apply(DeleteDataset(uid=two))
    assert await delete_next_dataset(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == []


async def test_released_files_are_taken_over_as_released(dms: Dms) -> None:
    one, _ = await dms.create_filled_dataset("one", 3)
    await dms.apply(make_release(one, 0, 2))
    await remove_released(dms.context)
    two = await dms.dataset("two")
    files = (await dms.client.list_files(one, released=True)).files
    new = [NewFile.model_validate(file.model_dump(exclude={"id", "dataset_uid"})) for file in files]
    for _ in range(2):
        await dms.client.register_many_files(two, new)
    assert await list_file_numbers(dms, two) == [1]
    assert await list_released_numbers(dms, two) == [0, 2]
    dataset = await dms.client.close_dataset(two, files=3)
    assert (dataset.state, dataset.count_files) == (DatasetState.CLOSED, 3)
    urls = [file.url for file in (await dms.client.list_files(two, released=True)).files]
    assert urls == [file.url for file in files]
    [storage] = await dms.client.list_storages(type=StorageType.INTERMEDIATE)
    assert storage.used == files[1].size
    for uid in (one, two):
        await dms.apply(DeleteDataset(uid=uid))
        assert await delete_next_dataset(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == []


async def test_sweep_keeps_registered_files_and_removes_files_of_losing_attempts(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("between", 3)
    dms.write("between", 9)  # by a losing attempt
    await dms.apply(make_release(uid, 1))
    while await sweep_next_folder(dms.context):
        pass
    await remove_released(dms.context)
    assert list_stored_numbers(dms) == [0, 2]


class Killed(Exception):
    pass


@pytest.mark.parametrize(
    "step", ["mark_replicas_deleting", "remove_marked_replicas", "drop_removals"]
)
async def test_invariant_7_removal_goes_on_in_another_instance_after_a_kill(
    dms: Dms, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    uid, files = await dms.create_filled_dataset("between", 4)
    await dms.apply(make_release(uid, 0, 1, 2))

    async def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(removing, step, die)
        with pytest.raises(Killed):
            await remove_released(dms.context)
    await remove_released(dms.other_context)
    assert await count_waiting(dms) == 3, "the claims of the killed instance were ignored"
    await dms.fetch("UPDATE removals SET not_before = now() RETURNING 1")
    await remove_released(dms.other_context)
    assert list_stored_numbers(dms) == [3]
    assert await count_waiting(dms) == 0
    [storage] = await dms.client.list_storages(type=StorageType.INTERMEDIATE)
    assert storage.used == files[3].size


async def test_failed_removal_is_tried_again(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("between", 2)
    await dms.apply(make_release(uid, 0))
    away = dms.folder / "away"
    shutil.move(dms.folder / StorageType.INTERMEDIATE, away)
    await remove_released(dms.context)
    assert await count_waiting(dms) == 1
    shutil.move(away, dms.folder / StorageType.INTERMEDIATE)
    await dms.fetch("UPDATE removals SET not_before = now() RETURNING 1")
    await remove_released(dms.context)
    assert (list_stored_numbers(dms), await count_waiting(dms)) == ([1], 0)


async def test_two_instances_share_the_removals(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("between", 30)
    await dms.apply(make_release(uid, *range(29)))
    await asyncio.gather(*(remove_released(each) for each in (dms.context, dms.other_context)))
    assert (list_stored_numbers(dms), await count_waiting(dms)) == ([29], 0)


async def test_concurrent_releases_by_all_downstream_tasks_release_the_files(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("between", 8)
    messages = [
        make_release(uid, *seqs, task=task, count=2)
        for seqs in (range(8), range(7, -1, -1))
        for task in (TASK, OTHER)
    ]
    await asyncio.gather(*(dms.apply(message) for message in messages))
    assert await list_file_numbers(dms, uid) == []


@given(data=st.data())
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_any_order_of_messages_has_the_same_result(dms: Dms, data: st.DataObject) -> None:
    """Registrations and releases come in any order, and some come twice.

    The data set closes with all files, and the files that both tasks released are removed.
    """
    name = f"any-{uuid4().hex}"
    uid = await dms.dataset(name)
    files = [dms.write(name, seq) for seq in range(4)]
    read = {
        task: data.draw(st.lists(st.integers(0, 3), min_size=1, unique=True), label="read")
        for task in (TASK, OTHER)
    }
    messages: list[RegisterFiles | ReleaseFiles] = [
        *(RegisterFiles(dataset_uid=uid, files=[file]) for file in files),
        RegisterFiles(dataset_uid=uid, close_at=4),
        *(make_release(uid, *seqs, task=task, count=2) for task, seqs in read.items()),
    ]
    again = data.draw(st.lists(st.sampled_from(messages)), label="again")
    for message in data.draw(st.permutations([*messages, *again]), label="order"):
        await dms.apply(message)
        if data.draw(st.booleans(), label="remove"):
            await remove_released(dms.context)
    await remove_released(dms.context)
    both = set(read[TASK]) & set(read[OTHER])
    left = [seq for seq in range(4) if seq not in both]
    dataset = await dms.client.get_dataset(uid)
    assert (dataset.state, dataset.count_files, dataset.released) == (
        DatasetState.CLOSED,
        4,
        len(both),
    )
    assert await list_file_numbers(dms, uid) == left
    assert [seq for seq in range(4) if dms.path(name, files[seq].name).exists()] == left
