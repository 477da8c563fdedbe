"""Outputs are uploaded to the output storage (invariants 4 and 7)."""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from dms.usecases.removal.delete_next_dataset import delete_next_dataset
from dms.usecases.removal.sweep_next_folder import sweep_next_folder
from dms.usecases.uploads import upload_dataset as uploading
from dms.usecases.uploads.upload_next_dataset import upload_next_dataset
from sluice.contracts.common.problems import NotFound, Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType, StorageType
from sluice.contracts.data.datasets import NewStorage
from sluice.contracts.messaging.messages import DATASET_CLOSED, RegisterFiles, UploadDataset
from tests.integration.dms.conftest import Dms


async def list_events(dms: Dms, uid: UUID) -> list[str]:
    """Return the states in the events about the data set."""
    rows = await dms.fetch(
        "SELECT convert_from(body, 'UTF8')::jsonb AS event FROM outbox WHERE destination = $1",
        DATASET_CLOSED,
    )
    return [
        row["event"]["data"]["state"] for row in rows if row["event"]["data"]["uid"] == str(uid)
    ]


async def test_upload_moves_files_to_a_readable_folder_on_the_output_storage(dms: Dms) -> None:
    uid, files = await dms.create_filled_dataset(
        "chain.merge.out", 5, meta={"output_name": "run 7"}
    )
    contents = {file.name: dms.path("chain.merge.out", file.name).read_bytes() for file in files}
    await dms.apply(UploadDataset(uid=uid))
    assert (await dms.client.get_dataset(uid)).usable, (
        "the data set is not usable during the upload"
    )
    assert await upload_next_dataset(dms.context)
    dataset = await dms.client.get_dataset(uid)
    folder = dms.folder / "output" / "run_7.chain.merge.out"
    assert (dataset.state, dataset.type, dataset.url) == (
        DatasetState.UPLOADED,
        DatasetType.OUTPUT,
        f"file://{folder}",
    )
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == contents
    assert dms.files_on(StorageType.INTERMEDIATE) == []
    assert not dms.path("chain.merge.out", "").exists()
    stored_files = (await dms.client.list_files(uid)).files
    assert [file.url for file in stored_files] == [f"file://{folder}/{file.name}" for file in files]
    assert await list_events(dms, uid) == ["closed", "uploaded"]
    storages = {storage.type: storage.used for storage in await dms.client.list_storages()}
    assert (storages[StorageType.INTERMEDIATE], storages[StorageType.OUTPUT]) == (0, dataset.bytes)
    assert (await dms.client.register_many_files(uid, files)).known == 5, (
        "a repeated registration was refused after the upload"
    )


async def test_upload_delivered_twice_is_done_once(dms: Dms) -> None:
    uid, files = await dms.create_filled_dataset("result")
    for _ in range(2):
        await dms.apply(UploadDataset(uid=uid))
    assert await upload_next_dataset(dms.context)
    await dms.apply(UploadDataset(uid=uid))
    assert not await upload_next_dataset(dms.context)
    assert len(dms.files_on(StorageType.OUTPUT)) == len(files)
    assert await list_events(dms, uid) == ["closed", "uploaded"]


async def test_upload_waits_for_the_last_file(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("result", 2, close=False)
    await dms.apply(UploadDataset(uid=uid))
    await dms.apply(RegisterFiles(dataset_uid=uid, close_at=3))
    assert not await upload_next_dataset(dms.context)
    await dms.apply(RegisterFiles(dataset_uid=uid, files=[dms.write("result", 2)]))
    assert await upload_next_dataset(dms.context)
    assert (await dms.client.get_dataset(uid)).state is DatasetState.UPLOADED
    assert len(dms.files_on(StorageType.OUTPUT)) == 3


async def test_data_set_without_files_is_uploaded_too(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("empty", 0)
    await dms.apply(UploadDataset(uid=uid))
    assert await upload_next_dataset(dms.context)
    assert (await dms.client.get_dataset(uid)).state is DatasetState.UPLOADED


async def test_upload_of_an_input_or_unknown_data_set_is_refused(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("given", type_=DatasetType.INPUT)
    with pytest.raises(Unprocessable, match="'given' cannot be uploaded: it is an input"):
        await dms.apply(UploadDataset(uid=uid))
    with pytest.raises(NotFound):
        await dms.apply(UploadDataset(uid=UUID(int=0)))


async def test_upload_after_a_deletion_has_no_effect(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("gone")
    await dms.client.delete_dataset(uid)
    await dms.apply(UploadDataset(uid=uid))
    assert (await dms.client.get_dataset(uid)).state is DatasetState.DELETING
    assert await delete_next_dataset(dms.context)
    await dms.apply(UploadDataset(uid=uid))
    assert (await dms.client.get_dataset(uid)).state is DatasetState.DELETED
    assert not await upload_next_dataset(dms.context)


async def test_damaged_file_is_not_uploaded_and_no_file_is_removed(dms: Dms) -> None:
    uid, files = await dms.create_filled_dataset("result", 3)
    dms.path("result", files[1].name).write_bytes(b"x" * files[1].size)
    await dms.apply(UploadDataset(uid=uid))
    assert await upload_next_dataset(dms.context)
    row = await dms.row(uid)
    assert row["state"] == DatasetState.UPLOADING
    assert files[1].name in row["reason"]
    assert files[1].name not in "".join(dms.files_on(StorageType.OUTPUT))
    assert len(dms.files_on(StorageType.INTERMEDIATE)) == 3, (
        "a file was removed before all files were uploaded"
    )
    dms.write("result", 1)
    await dms.fetch("UPDATE datasets SET retry_at = now() WHERE uid = $1", uid)
    assert await upload_next_dataset(dms.context)
    assert (await dms.client.get_dataset(uid)).state is DatasetState.UPLOADED


def replace_content(path: Path) -> None:
    path.write_bytes(b"x" * path.stat().st_size)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [(Path.unlink, "is not there"), (replace_content, "has another content: expected sha256")],
)
async def test_upload_that_cannot_succeed_is_given_up_with_its_reason(
    dms: Dms, spoil: Callable[[Path], None], reason: str
) -> None:
    uid, files = await dms.create_filled_dataset("result", 3)
    spoil(dms.path("result", files[1].name))
    await dms.apply(UploadDataset(uid=uid))
    for failure in range(5):
        [upload] = await dms.client.list_uploads([uid])
        assert upload.lost is None, failure
        await dms.fetch("UPDATE datasets SET retry_at = NULL WHERE uid = $1", uid)
        assert await upload_next_dataset(dms.context)
    [upload] = await dms.client.list_uploads([uid])
    assert upload.lost is not None
    assert f"file {files[1].name!r} {reason}" in upload.lost
    assert not await upload_next_dataset(dms.context), "the upload was tried again"
    assert (await dms.client.list_stalled_transfers()).stalled == [], (
        "an upload that was given up is shown as stalled"
    )
    [plain] = await dms.client.list_datasets_by_uid([uid])
    assert plain.lost is None, "a client that did not ask got the field"


async def test_upload_to_a_taken_path_is_given_up_and_keeps_the_other_file(dms: Dms) -> None:
    uid, files = await dms.create_filled_dataset("result", 2)
    taken = dms.write("result", 1, b"of another", DatasetType.OUTPUT)
    await dms.client.register_many_files(await dms.dataset("other"), [taken])
    await dms.apply(UploadDataset(uid=uid))
    for _ in range(5):
        await dms.fetch("UPDATE datasets SET retry_at = NULL WHERE uid = $1", uid)
        assert await upload_next_dataset(dms.context)
    [upload] = await dms.client.list_uploads([uid])
    assert upload.lost is not None
    assert "a file of another data set is registered here" in upload.lost
    place = dms.path("result", files[1].name, DatasetType.OUTPUT)
    assert place.read_bytes() == b"of another"
    assert not await upload_next_dataset(dms.context), "the upload was tried again"


async def test_upload_without_space_on_output_storages_waits_with_its_reason(
    dms: Dms, tmp_path: Path
) -> None:
    await dms.fetch("UPDATE storages SET capacity = 1 WHERE type = 'output'")
    uid, _ = await dms.create_filled_dataset("result", 3)
    await dms.apply(UploadDataset(uid=uid))
    assert await upload_next_dataset(dms.context)
    row, needed = await dms.row(uid), (await dms.client.get_dataset(uid)).bytes
    assert (
        row["reason"]
        == f"no storage of type output can take it: output-1 has space for 1 of {needed} bytes"
    )
    (tmp_path / "new").mkdir()
    await dms.client.register_storage(
        NewStorage(name="new", type=StorageType.OUTPUT, url=f"file://{tmp_path}/new")
    )
    await dms.fetch("UPDATE datasets SET retry_at = now() WHERE uid = $1", uid)
    assert await upload_next_dataset(dms.context)
    assert len(list((tmp_path / "new" / "result").iterdir())) == 3


async def test_upload_keeps_a_file_that_another_data_set_shares(dms: Dms) -> None:
    uid, files = await dms.create_filled_dataset("result", 2)
    other = await dms.dataset("other")
    await dms.client.register_many_files(other, files[:1])
    await dms.apply(UploadDataset(uid=uid))
    assert await upload_next_dataset(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == [f"result/{files[0].name}"]
    await dms.client.delete_dataset(other)
    assert await delete_next_dataset(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == [], (
        "the file was kept after the other data set was deleted"
    )
    assert len(dms.files_on(StorageType.OUTPUT)) == 2
    [listed, _] = (await dms.client.list_files(uid)).files
    assert listed.url.startswith(f"{(await dms.client.get_dataset(uid)).url}/")


async def test_two_instances_upload_each_data_set_once(dms: Dms) -> None:
    uids = [(await dms.create_filled_dataset(f"d{number}", 10))[0] for number in range(4)]
    for uid in uids:
        await dms.apply(UploadDataset(uid=uid))

    async def work(context: Any) -> int:
        done = 0
        while await upload_next_dataset(context):
            done += 1
        return done

    done = await asyncio.gather(
        *(work(context) for context in (dms.context, dms.other_context, dms.context))
    )
    assert sum(done) == len(uids)
    assert len(dms.files_on(StorageType.OUTPUT)) == 40
    assert dms.files_on(StorageType.INTERMEDIATE) == []
    for uid in uids:
        assert await list_events(dms, uid) == ["closed", "uploaded"]


async def test_invariant_7_upload_resumes_after_a_kill_with_the_remaining_files(
    dms: Dms, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid, files = await dms.create_filled_dataset("result", 6)
    await dms.apply(UploadDataset(uid=uid))
    monkeypatch.setattr(uploading, "PAGE", 2)
    record, reached, never, pages = uploading._record, asyncio.Event(), asyncio.Event(), 0

    async def stuck_at_the_second(*arguments: Any) -> None:
        nonlocal pages
        pages += 1
        if pages == 2:
            reached.set()
            await never.wait()
        await record(*arguments)

    monkeypatch.setattr(uploading, "_record", stuck_at_the_second)
    task = asyncio.create_task(upload_next_dataset(dms.context))
    await asyncio.wait_for(reached.wait(), 30)
    assert not await upload_next_dataset(dms.other_context), (
        "the claim of the other instance was ignored"
    )
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert len(dms.files_on(StorageType.OUTPUT)) == 4, "not exactly two pages were copied"
    copied = await _collect_copied_names(dms, monkeypatch)
    assert await upload_next_dataset(dms.other_context)
    assert copied == [file.name for file in files[2:]], "recorded files were copied again"
    assert (await dms.client.get_dataset(uid)).state is DatasetState.UPLOADED
    assert len(dms.files_on(StorageType.OUTPUT)) == 6
    assert dms.files_on(StorageType.INTERMEDIATE) == []


async def _collect_copied_names(dms: Dms, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that collects the names of the files copied from now on."""
    names: list[str] = []
    copy = uploading._copy

    async def noting(context: Any, file: Any, *arguments: Any) -> None:
        names.append(file.name)
        await copy(context, file, *arguments)

    monkeypatch.setattr(uploading, "_copy", noting)
    return names


async def test_deletion_ends_an_upload_and_removes_copied_files(
    dms: Dms, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid, _ = await dms.create_filled_dataset("result", 4)
    other = await dms.dataset("named")
    named = dms.write("named", 1).model_copy(update={"name": "a name of its own"})
    await dms.client.register_many_files(other, [named])
    await dms.client.close_dataset(other)
    record = uploading._record

    async def delete_meanwhile(context: Any, claim: Any, target: Any, files: Sequence[Any]) -> None:
        await dms.client.delete_dataset(claim.uid)
        await record(context, claim, target, files)

    monkeypatch.setattr(uploading, "_record", delete_meanwhile)
    for dataset in (uid, other):
        await dms.apply(UploadDataset(uid=dataset))
        assert await upload_next_dataset(dms.context)
        assert (await dms.client.get_dataset(dataset)).state is DatasetState.DELETING
    assert len(dms.files_on(StorageType.OUTPUT)) == 5, "the files were not copied"
    while await delete_next_dataset(dms.context):
        pass
    assert dms.files_on(StorageType.OUTPUT) == dms.files_on(StorageType.INTERMEDIATE) == []


async def test_invariant_4_link_out_of_the_storage_halts_the_upload(
    dms: Dms, tmp_path: Path
) -> None:
    uid, files = await dms.create_filled_dataset("astray", 1)
    (tmp_path / "secret").mkdir()
    shutil.copy(dms.path("astray", files[0].name), tmp_path / "secret")
    shutil.rmtree(dms.path("astray", ""))
    dms.path("astray", "").symlink_to(tmp_path / "secret")
    await dms.apply(UploadDataset(uid=uid))
    assert await upload_next_dataset(dms.context)
    assert (await dms.row(uid))["halted_at"] is not None
    assert dms.files_on(StorageType.OUTPUT) == []
    assert not await upload_next_dataset(dms.context)
    dms.path("astray", "").unlink()
    dms.write("astray", 0)
    await dms.apply(UploadDataset(uid=uid))
    assert await upload_next_dataset(dms.context)
    assert (await dms.client.get_dataset(uid)).state is DatasetState.UPLOADED


async def test_files_left_in_the_old_folder_after_the_upload_are_swept(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("result", 1)
    await dms.apply(UploadDataset(uid=uid))
    assert await upload_next_dataset(dms.context)
    dms.write("result", 9)
    await dms.fetch("UPDATE datasets SET sweep_at = now() WHERE uid = $1", uid)
    assert await sweep_next_folder(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == []
    assert len(dms.files_on(StorageType.OUTPUT)) == 1
