"""Files behind a link that replaced a storage's folder are not the storage's (invariant 4)."""

from pathlib import Path
from uuid import UUID

import pytest

from dms.usecases.removal.delete_next_dataset import delete_next_dataset
from dms.usecases.removal.sweep_next_folder import sweep_next_folder
from dms.usecases.uploads.upload_next_dataset import upload_next_dataset
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType, StorageType
from sluice.contracts.data.datasets import NewDataset, NewFile
from sluice.contracts.messaging.messages import UploadDataset
from tests.integration.dms.conftest import Dms

REASON = (
    "elsewhere now, but was {folder} when it was registered or last enabled: restore the folder, or"
    " disable"
)


@pytest.fixture
def root(dms: Dms) -> Path:
    return dms.folder / "intermediate"


@pytest.fixture
def reason(root: Path) -> str:
    return REASON.format(folder=root)


def replace_folder(root: Path, files: list[NewFile], *, name: str = "set") -> list[Path]:
    """Replace the storage's folder by a link to a folder with files of the same names."""
    root.rename(root.with_name("away"))
    theirs = root.with_name("elsewhere") / name
    theirs.mkdir(parents=True)
    root.symlink_to("elsewhere")
    for file in files:
        (theirs / file.name).write_bytes(b"x" * file.size)
    return [theirs / file.name for file in files]


def put_back(root: Path) -> None:
    root.unlink()
    root.with_name("away").rename(root)


def move_folder(root: Path) -> None:
    """Move the folder and leave a link in its place."""
    root.rename(root.with_name("elsewhere"))
    root.symlink_to("elsewhere")


async def read_content(dms: Dms, uid: UUID) -> tuple[int, str]:
    [file, *_] = (await dms.client.list_files(uid)).files
    answer = await dms.http.get(
        f"/api/v1/datasets/{uid}/files/{file.id}/content", headers={"range": "bytes=0-1"}
    )
    return answer.status_code, answer.text


async def test_nothing_in_a_replaced_storage_folder_is_read_deleted_swept_or_uploaded(
    dms: Dms, root: Path, reason: str
) -> None:
    uid, files = await dms.create_filled_dataset("set", 2)
    other, _ = await dms.create_filled_dataset("other", 1)
    theirs = replace_folder(root, files)
    status, text = await read_content(dms, uid)
    assert (status, reason in text) == (503, True), text
    (theirs[0].parent / "00000009.1-data.bin").touch()
    await dms.fetch("UPDATE datasets SET sweep_at = now() WHERE uid = $1", uid)
    assert await sweep_next_folder(dms.context)
    await dms.apply(UploadDataset(uid=other))
    assert await upload_next_dataset(dms.context)
    assert dms.files_on(StorageType.OUTPUT) == []
    await dms.client.delete_dataset(uid)
    await dms.fetch("UPDATE datasets SET retry_at = now()")
    assert await delete_next_dataset(dms.context)
    assert all(path.exists() for path in [*theirs, theirs[0].parent / "00000009.1-data.bin"])
    for one, state in ((uid, DatasetState.DELETING), (other, DatasetState.UPLOADING)):
        row = await dms.row(one)
        assert (row["state"], row["halted_at"], reason in row["reason"]) == (state, None, True), row
    put_back(root)
    await dms.fetch("UPDATE datasets SET retry_at = now()")
    assert await delete_next_dataset(dms.context)
    assert (await dms.client.get_dataset(uid)).state is DatasetState.DELETED


async def test_empty_data_set_folder_in_a_replaced_storage_is_kept(dms: Dms, reason: str) -> None:
    uid = await dms.dataset("empty", DatasetType.INPUT)
    root = dms.folder / "input"
    replace_folder(root, [], name="empty")
    await dms.client.delete_dataset(uid)
    assert await delete_next_dataset(dms.context)
    assert (root / "empty").is_dir()
    row = await dms.row(uid)
    assert (row["state"], reason.replace("intermediate", "input") in row["reason"]) == (
        DatasetState.DELETING,
        True,
    )


async def test_replaced_storage_gets_no_new_data_and_shows_the_reason(
    dms: Dms, root: Path, reason: str
) -> None:
    uid, [file] = await dms.create_filled_dataset("set", 1, close=False)
    replace_folder(root, [file])
    astray = file.model_copy(update={"seq": 7, "name": "another"})
    with pytest.raises(
        Unprocessable, match=f"storage 'intermediate-1' gets no new data: its folder is .*{reason}"
    ):
        await dms.client.register_many_files(uid, [astray])
    with pytest.raises(Unprocessable, match=reason):
        await dms.client.register_dataset(NewDataset(name="new", url=f"file://{root}/new"))
    await dms.storage_monitor.check_all()
    [storage] = await dms.client.list_storages(type=StorageType.INTERMEDIATE, all=True)
    assert reason in (storage.warning or "")
    assert await dms.client.list_storages(type=StorageType.INTERMEDIATE) == []


async def test_moved_storage_is_used_again_after_it_is_enabled(dms: Dms, root: Path) -> None:
    uid, files = await dms.create_filled_dataset("set", 1)
    move_folder(root)
    assert (await read_content(dms, uid))[0] == 503
    await dms.client.disable_storage("intermediate-1")
    assert (await read_content(dms, uid))[0] == 503, "disabling the storage accepted its new folder"
    await dms.client.enable_storage("intermediate-1")
    assert (await read_content(dms, uid))[0] == 206
    await dms.client.delete_dataset(uid)
    assert await delete_next_dataset(dms.context)
    assert not (root / "set" / files[0].name).exists()


async def test_storage_of_an_earlier_release_is_compared_with_its_first_seen_folder(
    dms: Dms, root: Path, reason: str
) -> None:
    uid, files = await dms.create_filled_dataset("set", 1)
    await dms.fetch("DELETE FROM storage_folders")
    for _ in range(2):
        await dms.storage_monitor.check_all()
    assert (await read_content(dms, uid))[0] == 206
    replace_folder(root, files)
    await dms.storage_monitor.check_all()
    status, text = await read_content(dms, uid)
    assert (status, reason in text) == (503, True)
