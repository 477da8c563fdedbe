"""Deleting real files (invariants 4 and 7: nothing that is needed, nothing outside; killed
anywhere, it goes on)."""

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from dms.loops.workers import delete_once, sweep_once
from dms.usecases import remove_copies as removing
from sluice.contracts.datasets import NewDataset, NewStorage
from sluice.contracts.messages import DeleteDataset, RegisterFiles
from sluice.contracts.problems import Unprocessable
from sluice.contracts.states import DatasetState, DatasetType, StorageType
from tests.integration.dms.conftest import Dms


async def used(dms: Dms, type_: StorageType) -> int:
    return (await dms.client.storages(type_))[0].used


async def test_files_and_folder_go_and_the_storage_has_room_again(dms: Dms) -> None:
    uid, _ = await dms.filled("gone", 5)
    _, kept = await dms.filled("kept", 2)
    await dms.apply(DeleteDataset(uid=uid))
    assert await delete_once(dms.context)
    assert (await dms.client.dataset(uid)).state is DatasetState.DELETED
    assert dms.files_on(StorageType.INTERMEDIATE) == [f"kept/{file.name}" for file in kept]
    assert not dms.path("gone", "").exists()
    assert await used(dms, StorageType.INTERMEDIATE) == sum(file.size for file in kept)
    assert not await delete_once(dms.context), "nothing is left to do"


async def test_a_deletion_delivered_twice_is_one_and_an_unknown_data_set_is_as_good_as_deleted(
    dms: Dms,
) -> None:
    uid, _ = await dms.filled("gone")
    for _ in range(2):
        await dms.apply(DeleteDataset(uid=uid))
    assert await delete_once(dms.context)
    await dms.apply(DeleteDataset(uid=uid))
    await dms.apply(DeleteDataset(uid=uuid4()))
    assert (await dms.client.dataset(uid)).state is DatasetState.DELETED
    assert not await delete_once(dms.context)


async def test_invariant_4_the_last_copy_of_an_output_is_not_deleted_by_a_message(dms: Dms) -> None:
    uid, _ = await dms.filled("result", type_=DatasetType.OUTPUT)
    with pytest.raises(Unprocessable, match="force=true"):
        await dms.apply(DeleteDataset(uid=uid))
    assert (await dms.client.dataset(uid)).state is DatasetState.CLOSED
    await dms.client.delete_dataset(uid, force=True)
    assert await delete_once(dms.context)
    assert dms.files_on(StorageType.OUTPUT) == []


async def test_missing_files_are_as_good_as_removed(dms: Dms) -> None:
    uid, files = await dms.filled("half", 4)
    dms.path("half", files[1].name).unlink()
    dms.path("half", files[3].name).unlink()
    await dms.client.delete_dataset(uid)
    assert await delete_once(dms.context)
    assert (await dms.client.dataset(uid)).state is DatasetState.DELETED


async def test_invariant_4_a_file_that_another_live_data_set_holds_stays_until_that_goes_too(
    dms: Dms,
) -> None:
    one, files = await dms.filled("one", 3)
    two = await dms.dataset("two")
    await dms.client.register_files(two, [files[1]])
    await dms.client.delete_dataset(one)
    assert await delete_once(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == [f"one/{files[1].name}"]
    assert (await dms.client.files(two)).files[0].url == files[1].url
    await dms.client.delete_dataset(two)
    assert await delete_once(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == []


async def test_data_sets_that_share_files_and_go_together_leave_nothing(dms: Dms) -> None:
    one, files = await dms.filled("one", 3)
    two = await dms.dataset("two")
    await dms.client.register_files(two, files)
    await asyncio.gather(dms.client.delete_dataset(one), dms.client.delete_dataset(two))
    await asyncio.gather(delete_once(dms.context), delete_once(dms.other_context))
    assert dms.files_on(StorageType.INTERMEDIATE) == []
    assert [(await dms.client.dataset(uid)).state for uid in (one, two)] == [
        DatasetState.DELETED
    ] * 2
    assert await used(dms, StorageType.INTERMEDIATE) == 0, "each file is counted once"


@pytest.mark.parametrize("looked", [True, False], ids=["by its folder", "by what is stored"])
async def test_files_on_read_only_storages_are_only_forgotten(
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
    await dms.client.register_files(
        dataset.uid, [file.model_copy(update={"url": f"{url}/{file.name}"})]
    )
    if not looked:
        dms.context.watch.read_only = ()  # as where it is no local folder
    await dms.client.delete_dataset(dataset.uid)
    assert await delete_once(dms.context)
    assert (await dms.client.dataset(dataset.uid)).state is DatasetState.DELETED
    assert (tmp_path / "tape" / file.name).exists()


async def test_two_instances_delete_many_data_sets_each_once(dms: Dms) -> None:
    uids = [(await dms.filled(f"d{number}", 20))[0] for number in range(6)]
    for uid in uids:
        await dms.client.delete_dataset(uid)

    async def work(context: Any) -> int:
        done = 0
        while await delete_once(context):
            done += 1
        return done

    done = await asyncio.gather(
        *(
            work(context)
            for context in (dms.context, dms.other_context, dms.context, dms.other_context)
        )
    )
    assert sum(done) == len(uids), "each was taken in hand once"
    assert [(await dms.client.dataset(uid)).state for uid in uids] == [DatasetState.DELETED] * len(
        uids
    )
    assert dms.files_on(StorageType.INTERMEDIATE) == []
    assert await used(dms, StorageType.INTERMEDIATE) == 0


async def test_invariant_7_killed_between_removal_and_note_it_goes_on(
    dms: Dms, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid, _ = await dms.filled("gone", 5)
    await dms.client.delete_dataset(uid)
    reached, never = asyncio.Event(), asyncio.Event()

    async def stuck(*_: Any) -> None:
        reached.set()
        await never.wait()

    with monkeypatch.context() as patch:
        patch.setattr(removing, "_forget", stuck)
        task = asyncio.create_task(delete_once(dms.context))
        await asyncio.wait_for(reached.wait(), 30)
        assert dms.files_on(StorageType.INTERMEDIATE) == [], "removed, and not noted"
        assert not await delete_once(dms.other_context), "it is in the other's hand"
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert await delete_once(dms.other_context)
    assert (await dms.client.dataset(uid)).state is DatasetState.DELETED
    assert await used(dms, StorageType.INTERMEDIATE) == 0


async def test_invariant_7_the_work_of_a_dead_instance_is_taken_over_when_its_claim_ends(
    dms: Dms,
) -> None:
    uid, _ = await dms.filled("gone")
    await dms.client.delete_dataset(uid)
    claim = (
        "UPDATE datasets SET claim_token = gen_random_uuid(), claim_until = now() + $2 * interval"
        " '1 s' WHERE uid = $1"
    )
    await dms.fetch(claim, uid, 600)
    assert not await delete_once(dms.context)
    await dms.fetch(claim, uid, -1)
    assert await delete_once(dms.context)
    assert (await dms.client.dataset(uid)).state is DatasetState.DELETED


async def test_files_registered_after_the_deletion_began_are_removed_too(dms: Dms) -> None:
    uid = await dms.dataset("late")
    await dms.client.delete_dataset(uid)
    await dms.apply(RegisterFiles(dataset_uid=uid, files=[dms.write("late", 1)]))
    assert await delete_once(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == []
    # The next one finds the data set deleted: it is swept.
    late = RegisterFiles(dataset_uid=uid, files=[dms.write("late", 2)], close_at=2)
    for _ in range(2):
        await dms.apply(late)
    assert dms.files_on(StorageType.INTERMEDIATE) == ["late/00000002.1-data.bin"]
    assert await sweep_once(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == []
    assert (await dms.client.dataset(uid)).state is DatasetState.DELETED
    assert await used(dms, StorageType.INTERMEDIATE) == 0


async def test_a_file_registered_while_the_last_page_is_removed_is_not_forgotten(
    dms: Dms, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid = await dms.dataset("late")
    await dms.client.register_files(uid, [dms.write("late", 5)])
    await dms.client.delete_dataset(uid)
    forget, once = removing._forget, iter([True])

    async def and_one_more(context: Any, copies: Sequence[Any]) -> None:
        await forget(context, list(copies))
        if next(once, False):
            # In front of the page that was just gone through.
            await dms.apply(RegisterFiles(dataset_uid=uid, files=[dms.write("late", 1)]))

    monkeypatch.setattr(removing, "_forget", and_one_more)
    assert await delete_once(dms.context)
    assert (await dms.client.dataset(uid)).state is DatasetState.DELETED
    assert dms.files_on(StorageType.INTERMEDIATE) == []


async def test_a_storage_that_fails_is_tried_again_and_says_why(dms: Dms) -> None:
    uid, files = await dms.filled("gone")
    root, away = dms.folder / "intermediate", dms.folder / "away"
    root.rename(away)
    await dms.client.delete_dataset(uid)
    for failures in (1, 2):
        assert await delete_once(dms.context)
        row = await dms.row(uid)
        assert (row["state"], row["failures"]) == (DatasetState.DELETING, failures)
        assert "is its file system mounted?" in row["reason"]
        assert not await delete_once(dms.context), "it rests"
        await dms.fetch("UPDATE datasets SET retry_at = now() WHERE uid = $1", uid)
    away.rename(root)
    assert len(dms.files_on(StorageType.INTERMEDIATE)) == len(files), (
        "not one was taken for removed"
    )
    assert await delete_once(dms.context)
    row = await dms.row(uid)
    assert (row["state"], row["failures"], row["reason"]) == (DatasetState.DELETED, 0, None)


async def test_invariant_4_a_link_out_of_the_storage_halts_the_deletion(
    dms: Dms, tmp_path: Path
) -> None:
    uid, files = await dms.filled("astray")
    victim = tmp_path / "victim"
    victim.mkdir()
    for file in files:
        (victim / file.name).write_text("precious")
    folder = dms.path("astray", "")
    shutil.rmtree(folder)
    folder.symlink_to(victim)
    await dms.client.delete_dataset(uid)
    assert await delete_once(dms.context)
    assert sorted(path.name for path in victim.iterdir()) == [file.name for file in files]
    row = await dms.row(uid)
    assert row["state"] == DatasetState.DELETING
    assert row["halted_at"] is not None
    assert "is reached through a link" in row["reason"]
    assert not await delete_once(dms.context), "it waits for a person"
    folder.unlink()
    await dms.client.delete_dataset(uid)
    assert await delete_once(dms.context), "asked for again, it goes on"
    assert (await dms.client.dataset(uid)).state is DatasetState.DELETED
    assert len(list(victim.iterdir())) == len(files)


async def test_the_work_stops_when_the_claim_is_lost(
    dms: Dms, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid, _ = await dms.filled("gone", 3)
    await dms.client.delete_dataset(uid)
    monkeypatch.setattr(removing, "PAGE", 1)
    forget = removing._forget

    async def then_lose_it(context: Any, copies: Sequence[Any]) -> None:
        await forget(context, list(copies))
        await dms.fetch("UPDATE datasets SET claim_token = gen_random_uuid() WHERE uid = $1", uid)

    monkeypatch.setattr(removing, "_forget", then_lose_it)
    assert await delete_once(dms.context)
    assert len(dms.files_on(StorageType.INTERMEDIATE)) == 2
    assert (await dms.row(uid))["claim_token"] is not None, "the other's claim stands"
