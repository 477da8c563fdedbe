"""Files behind links inside a storage belong to another data set (invariant 4)."""

from pathlib import Path

import pytest

from dms.usecases.removal.delete_next_dataset import delete_next_dataset
from dms.usecases.removal.sweep_next_folder import sweep_next_folder
from dms.usecases.uploads.upload_next_dataset import upload_next_dataset
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType, StorageType
from sluice.contracts.data.datasets import NewDataset, NewFile
from sluice.contracts.messaging.messages import RegisterFiles, UploadDataset
from tests.integration.dms.conftest import Dms

INPUT = DatasetType.INPUT


def move_file_url(file: NewFile, path: Path) -> NewFile:
    return file.model_copy(update={"url": f"file://{path}"})


@pytest.mark.parametrize("link", ["other", "other/d", "other/d/x", "other/file"])
async def test_path_through_a_link_is_not_registered(dms: Dms, link: str) -> None:
    dataset_uid, files = await dms.create_filled_dataset("kept", 1, INPUT)
    place = dms.path("other", "", INPUT).parent / link
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(dms.path("kept", files[0].name if link.endswith("file") else "", INPUT))
    uid = await dms.dataset("else", INPUT)
    through = place if link.endswith("file") else place / files[0].name
    with pytest.raises(
        Unprocessable,
        match=(
            rf"file '{files[0].name}': .* is reached through a link in storage 'input-1': give the"
        ),
    ):
        await dms.client.register_many_files(uid, [move_file_url(files[0], through)])
    assert (await dms.client.get_dataset(uid)).count_files == 0
    with pytest.raises(
        Unprocessable, match=r"data set 'other': .* is reached through a link in storage 'input-1'"
    ):
        await dms.client.register_dataset(NewDataset(name="other", url=f"file://{place}"))
    assert (await dms.client.register_many_files(uid, files)).new == 1, (
        "the file was refused at its own path"
    )
    assert (await dms.client.list_files(dataset_uid)).files[0].url == files[0].url


@pytest.mark.parametrize("link", ["other", "other/d"])
async def test_deletion_removes_nothing_behind_a_link(dms: Dms, link: str) -> None:
    """The file was registered before links were checked, or by a message."""
    dataset_uid, files = await dms.create_filled_dataset("kept", 2, INPUT)
    uid = await dms.dataset("other", INPUT)
    place = dms.path("other", "", INPUT).parent / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(dms.path("kept", "", INPUT))
    own = dms.write("beside", 9, type_=INPUT)
    await dms.apply(
        RegisterFiles(dataset_uid=uid, files=[move_file_url(files[0], place / files[0].name), own])
    )
    [read, _] = (await dms.client.list_files(uid)).files
    answer = await dms.http.get(f"/api/v1/datasets/{uid}/files/{read.id}/content")
    assert answer.status_code == 200, "a registered file behind a link is not readable"
    await dms.client.delete_dataset(uid)
    assert await delete_next_dataset(dms.context)
    assert all(dms.path("kept", file.name, INPUT).exists() for file in files)
    assert (await dms.client.get_dataset(dataset_uid)).state is DatasetState.CLOSED
    assert not dms.path("beside", own.name, INPUT).exists(), (
        "a link blocked the removal of another file"
    )
    row = await dms.row(uid)
    assert (row["state"], row["halted_at"] is not None) == (DatasetState.DELETING, True)
    assert "is reached through a link, behind which nothing is written or removed" in row["reason"]
    place.unlink()
    await dms.client.delete_dataset(uid)
    assert await delete_next_dataset(dms.context)
    assert (await dms.client.get_dataset(uid)).state is DatasetState.DELETED
    assert all(dms.path("kept", file.name, INPUT).exists() for file in files)


async def test_folder_replaced_by_a_link_is_neither_swept_nor_removed(dms: Dms) -> None:
    dataset_uid, files = await dms.create_filled_dataset("kept", 1)
    left = dms.write("kept", 7)
    uid = await dms.dataset("other")
    dms.path("other", "").symlink_to(dms.path("kept", ""))
    await dms.client.close_dataset(uid)
    await dms.fetch("UPDATE datasets SET sweep_at = CASE WHEN uid = $1 THEN now() END", uid)
    assert await sweep_next_folder(dms.context)
    await dms.client.delete_dataset(uid)
    assert await delete_next_dataset(dms.context)
    assert (await dms.client.get_dataset(uid)).state is DatasetState.DELETED
    assert dms.path("other", "").is_symlink()
    assert sorted(path.name for path in dms.path("kept", "").iterdir()) == sorted(
        [files[0].name, left.name]
    )
    assert (await dms.client.get_dataset(dataset_uid)).state is DatasetState.CLOSED


async def test_upload_reads_nothing_outside_the_storage(dms: Dms, tmp_path: Path) -> None:
    uid, _ = await dms.create_filled_dataset("result", 1)
    folder = dms.path("result", "")
    folder.rename(tmp_path / "outside")
    folder.symlink_to(tmp_path / "outside")
    await dms.apply(UploadDataset(uid=uid))
    assert await upload_next_dataset(dms.context)
    row = await dms.row(uid)
    assert (row["state"], row["halted_at"] is not None) == (DatasetState.UPLOADING, True)
    assert dms.files_on(StorageType.OUTPUT) == []


async def test_upload_overwrites_nothing_behind_a_link(dms: Dms) -> None:
    uid, files = await dms.create_filled_dataset("result", 1)
    theirs = dms.write("theirs", 0, b"theirs", DatasetType.OUTPUT)
    assert theirs.name == files[0].name
    dms.path("result", "", DatasetType.OUTPUT).symlink_to("theirs")
    await dms.apply(UploadDataset(uid=uid))
    assert await upload_next_dataset(dms.context)
    row = await dms.row(uid)
    assert (row["state"], row["halted_at"] is not None) == (DatasetState.UPLOADING, True)
    assert dms.path("theirs", theirs.name, DatasetType.OUTPUT).read_bytes() == b"theirs"
    assert len(dms.files_on(StorageType.INTERMEDIATE)) == 1
