"""Data sets are deleted with their files (invariants 4 and 7)."""

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from dms.usecases.removal import remove_marked_replicas, remove_replicas
from dms.usecases.removal.delete_next_dataset import delete_next_dataset
from dms.usecases.removal.sweep_next_folder import sweep_next_folder
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType, StorageType
from sluice.contracts.data.datasets import NewDataset, NewStorage
from sluice.contracts.messaging.messages import DeleteDataset, RegisterFiles
from tests.integration.dms.conftest import Dms


async def read_used_space(dms: Dms, type_: StorageType) -> int:
    return (await dms.client.list_storages(type=type_))[0].used


async def test_deletion_removes_files_and_folder_and_frees_the_storage(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("gone", 5)
    _, remaining_uid = await dms.create_filled_dataset("kept", 2)
    await dms.apply(DeleteDataset(uid=uid))
    assert await delete_next_dataset(dms.context)
    assert (await dms.client.get_dataset(uid)).state is DatasetState.DELETED
    assert dms.files_on(StorageType.INTERMEDIATE) == [f"kept/{file.name}" for file in remaining_uid]
    assert not dms.path("gone", "").exists()
    assert await read_used_space(dms, StorageType.INTERMEDIATE) == sum(
        file.size for file in remaining_uid
    )
    assert not await delete_next_dataset(dms.context), "the deletion was done twice"


async def test_repeated_deletion_and_deletion_of_an_unknown_data_set_succeed(
    dms: Dms,
) -> None:
    uid, _ = await dms.create_filled_dataset("gone")
    for _ in range(2):
        await dms.apply(DeleteDataset(uid=uid))
    assert await delete_next_dataset(dms.context)
    await dms.apply(DeleteDataset(uid=uid))
    await dms.apply(DeleteDataset(uid=uuid4()))
    assert (await dms.client.get_dataset(uid)).state is DatasetState.DELETED
    assert not await delete_next_dataset(dms.context)


async def test_invariant_4_message_does_not_delete_the_last_replica_of_an_output(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("result", type_=DatasetType.OUTPUT)
    with pytest.raises(Unprocessable, match="force=true"):
        await dms.apply(DeleteDataset(uid=uid))
    assert (await dms.client.get_dataset(uid)).state is DatasetState.CLOSED
    await dms.client.delete_dataset(uid, force=True)
    assert await delete_next_dataset(dms.context)
    assert dms.files_on(StorageType.OUTPUT) == []


async def test_missing_files_count_as_removed(dms: Dms) -> None:
    uid, files = await dms.create_filled_dataset("half", 4)
    dms.path("half", files[1].name).unlink()
    dms.path("half", files[3].name).unlink()
    await dms.client.delete_dataset(uid)
    assert await delete_next_dataset(dms.context)
    assert (await dms.client.get_dataset(uid)).state is DatasetState.DELETED


async def test_invariant_4_file_of_another_live_data_set_is_kept_until_its_deletion(
    dms: Dms,
) -> None:
    one, files = await dms.create_filled_dataset("one", 3)
    two = await dms.dataset("two")
    await dms.client.register_many_files(two, [files[1]])
    await dms.client.delete_dataset(one)
    assert await delete_next_dataset(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == [f"one/{files[1].name}"]
    assert (await dms.client.list_files(two)).files[0].url == files[1].url
    await dms.client.delete_dataset(two)
    assert await delete_next_dataset(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == []


async def test_data_sets_with_shared_files_are_deleted_together_without_remains(dms: Dms) -> None:
    one, files = await dms.create_filled_dataset("one", 3)
    two = await dms.dataset("two")
    await dms.client.register_many_files(two, files)
    await asyncio.gather(dms.client.delete_dataset(one), dms.client.delete_dataset(two))
    await asyncio.gather(delete_next_dataset(dms.context), delete_next_dataset(dms.other_context))
    assert dms.files_on(StorageType.INTERMEDIATE) == []
    assert [(await dms.client.get_dataset(uid)).state for uid in (one, two)] == [
        DatasetState.DELETED
    ] * 2
    assert await read_used_space(dms, StorageType.INTERMEDIATE) == 0, "a file was counted twice"


@pytest.mark.parametrize("looked", [True, False], ids=["by its folder", "by what is stored"])
async def test_files_on_read_only_storages_are_only_deregistered(
    dms: Dms, tmp_path: Path, looked: bool
) -> None:
    (tmp_path / "tape").mkdir()
    url = f"file://{tmp_path}/tape"
    await dms.client.register_storage(
        NewStorage(name="tape", type=StorageType.INPUT, url=url, read_only=True)
    )
    file = dms.write("set", 1)
    (tmp_path / "tape" / file.name).write_bytes(dms.path("set", file.name).read_bytes())
    dataset = await dms.client.register_dataset(NewDataset(name="taped", url=f"{url}/taped"))
    await dms.client.register_many_files(
        dataset.uid, [file.model_copy(update={"url": f"{url}/{file.name}"})]
    )
    if not looked:
        dms.context.storage_monitor.read_only = ()  # as for a storage that is no local folder
    await dms.client.delete_dataset(dataset.uid)
    assert await delete_next_dataset(dms.context)
    assert (await dms.client.get_dataset(dataset.uid)).state is DatasetState.DELETED
    assert (tmp_path / "tape" / file.name).exists()


async def test_two_instances_delete_each_data_set_once(dms: Dms) -> None:
    uids = [(await dms.create_filled_dataset(f"d{number}", 20))[0] for number in range(6)]
    for uid in uids:
        await dms.client.delete_dataset(uid)

    async def work(context: Any) -> int:
        done = 0
        while await delete_next_dataset(context):
            done += 1
        return done

    done = await asyncio.gather(
        *(
            work(context)
            for context in (dms.context, dms.other_context, dms.context, dms.other_context)
        )
    )
    assert sum(done) == len(uids), "a data set was claimed twice"
    assert [(await dms.client.get_dataset(uid)).state for uid in uids] == [
        DatasetState.DELETED
    ] * len(uids)
    assert dms.files_on(StorageType.INTERMEDIATE) == []
    assert await read_used_space(dms, StorageType.INTERMEDIATE) == 0


async def test_invariant_7_deletion_resumes_after_a_kill_before_its_record(
    dms: Dms, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid, _ = await dms.create_filled_dataset("gone", 5)
    await dms.client.delete_dataset(uid)
    reached, never = asyncio.Event(), asyncio.Event()

    async def stuck(*_: Any) -> None:
        reached.set()
        await never.wait()

    with monkeypatch.context() as patch:
        patch.setattr(remove_marked_replicas, "_forget", stuck)
        task = asyncio.create_task(delete_next_dataset(dms.context))
        await asyncio.wait_for(reached.wait(), 30)
        assert dms.files_on(StorageType.INTERMEDIATE) == [], "the files were not removed"
        assert not await delete_next_dataset(dms.other_context), (
            "the claim of the other instance was ignored"
        )
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert await delete_next_dataset(dms.other_context)
    assert (await dms.client.get_dataset(uid)).state is DatasetState.DELETED
    assert await read_used_space(dms, StorageType.INTERMEDIATE) == 0


async def test_invariant_7_expired_claim_of_a_dead_instance_is_taken_over(
    dms: Dms,
) -> None:
    uid, _ = await dms.create_filled_dataset("gone")
    await dms.client.delete_dataset(uid)
    claim = (
        "UPDATE datasets SET claim_token = gen_random_uuid(), claim_until = now() + $2 * interval"
        " '1 s' WHERE uid = $1"
    )
    await dms.fetch(claim, uid, 600)
    assert not await delete_next_dataset(dms.context)
    await dms.fetch(claim, uid, -1)
    assert await delete_next_dataset(dms.context)
    assert (await dms.client.get_dataset(uid)).state is DatasetState.DELETED


async def test_files_registered_after_the_deletion_began_are_removed_too(dms: Dms) -> None:
    uid = await dms.dataset("late")
    await dms.client.delete_dataset(uid)
    await dms.apply(RegisterFiles(dataset_uid=uid, files=[dms.write("late", 1)]))
    assert await delete_next_dataset(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == []
    # The data set is deleted when the next file comes, so the sweep removes the file.
    late = RegisterFiles(dataset_uid=uid, files=[dms.write("late", 2)], close_at=2)
    for _ in range(2):
        await dms.apply(late)
    assert dms.files_on(StorageType.INTERMEDIATE) == ["late/00000002.1-data.bin"]
    assert await sweep_next_folder(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == []
    assert (await dms.client.get_dataset(uid)).state is DatasetState.DELETED
    assert await read_used_space(dms, StorageType.INTERMEDIATE) == 0


async def test_file_registered_during_the_last_page_of_a_deletion_is_removed(
    dms: Dms, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid = await dms.dataset("late")
    await dms.client.register_many_files(uid, [dms.write("late", 5)])
    await dms.client.delete_dataset(uid)
    forget, once = remove_marked_replicas._forget, iter([True])

    async def and_one_more(context: Any, replicas: Sequence[Any]) -> None:
        await forget(context, list(replicas))
        if next(once, False):
            # This file sorts before the page that was just removed.
            await dms.apply(RegisterFiles(dataset_uid=uid, files=[dms.write("late", 1)]))

    monkeypatch.setattr(remove_marked_replicas, "_forget", and_one_more)
    assert await delete_next_dataset(dms.context)
    assert (await dms.client.get_dataset(uid)).state is DatasetState.DELETED
    assert dms.files_on(StorageType.INTERMEDIATE) == []


async def test_deletion_on_an_unavailable_storage_is_retried_with_its_reason(dms: Dms) -> None:
    uid, files = await dms.create_filled_dataset("gone")
    root, away = dms.folder / "intermediate", dms.folder / "away"
    root.rename(away)
    await dms.client.delete_dataset(uid)
    for failures in (1, 2):
        assert await delete_next_dataset(dms.context)
        row = await dms.row(uid)
        assert (row["state"], row["failures"]) == (DatasetState.DELETING, failures)
        assert "is its file system mounted?" in row["reason"]
        assert not await delete_next_dataset(dms.context), "the deletion did not pause"
        await dms.fetch("UPDATE datasets SET retry_at = now() WHERE uid = $1", uid)
    away.rename(root)
    assert len(dms.files_on(StorageType.INTERMEDIATE)) == len(files), "a file was removed"
    assert await delete_next_dataset(dms.context)
    row = await dms.row(uid)
    assert (row["state"], row["failures"], row["reason"]) == (DatasetState.DELETED, 0, None)


async def test_invariant_4_link_out_of_the_storage_halts_the_deletion(
    dms: Dms, tmp_path: Path
) -> None:
    uid, files = await dms.create_filled_dataset("astray")
    victim = tmp_path / "victim"
    victim.mkdir()
    for file in files:
        (victim / file.name).write_text("precious")
    folder = dms.path("astray", "")
    shutil.rmtree(folder)
    folder.symlink_to(victim)
    await dms.client.delete_dataset(uid)
    assert await delete_next_dataset(dms.context)
    assert sorted(path.name for path in victim.iterdir()) == [file.name for file in files]
    row = await dms.row(uid)
    assert row["state"] == DatasetState.DELETING
    assert row["halted_at"] is not None
    assert "is reached through a link" in row["reason"]
    assert not await delete_next_dataset(dms.context), "the halted deletion continued by itself"
    folder.unlink()
    await dms.client.delete_dataset(uid)
    assert await delete_next_dataset(dms.context), "a repeated request did not resume the deletion"
    assert (await dms.client.get_dataset(uid)).state is DatasetState.DELETED
    assert len(list(victim.iterdir())) == len(files)


async def test_deletion_stops_when_its_claim_is_lost(
    dms: Dms, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid, _ = await dms.create_filled_dataset("gone", 3)
    await dms.client.delete_dataset(uid)
    monkeypatch.setattr(remove_replicas, "PAGE", 1)
    forget = remove_marked_replicas._forget

    async def then_lose_it(context: Any, replicas: Sequence[Any]) -> None:
        await forget(context, list(replicas))
        await dms.fetch("UPDATE datasets SET claim_token = gen_random_uuid() WHERE uid = $1", uid)

    monkeypatch.setattr(remove_marked_replicas, "_forget", then_lose_it)
    assert await delete_next_dataset(dms.context)
    assert len(dms.files_on(StorageType.INTERMEDIATE)) == 2
    assert (await dms.row(uid))["claim_token"] is not None, (
        "the claim of the other instance was removed"
    )
