"""Halted uploads are shown and go on when a person resumes them."""

import shutil
from pathlib import Path
from uuid import uuid4

import pytest

from dms.gauges import declare_gauges
from dms.usecases.uploads.upload_next_dataset import upload_next_dataset
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import DatasetState, StorageType
from sluice.contracts.messaging.messages import UploadDataset
from tests.integration.dms.conftest import Dms


async def read_gauge(dms: Dms, name: str) -> dict[tuple[object, ...], float]:
    [measurement] = [
        one for one in declare_gauges(dms.storage_monitor.free_now) if one.name == name
    ]
    return {tuple(row[:-1]): float(row[-1]) for row in await measurement.read(dms.database)}


async def test_halted_upload_is_shown_and_goes_on_when_resumed(dms: Dms, tmp_path: Path) -> None:
    uid, _ = await dms.create_filled_dataset("astray", 1)
    moved_folder = tmp_path / "kept"
    shutil.move(dms.path("astray", ""), moved_folder)
    dms.path("astray", "").symlink_to(moved_folder)
    await dms.apply(UploadDataset(uid=uid))
    assert await upload_next_dataset(dms.context)
    uploading, deleting = (DatasetState.UPLOADING,), (DatasetState.DELETING,)
    assert await read_gauge(dms, "sluice_datasets_halted") == {uploading: 1, deleting: 0}
    assert (await read_gauge(dms, "sluice_upload_oldest_seconds"))[()] > 0

    dms.path("astray", "").unlink()
    shutil.move(moved_folder, dms.path("astray", ""))
    assert not await upload_next_dataset(dms.context), "the halted upload went on by itself"
    assert (await dms.client.resume_dataset(uid)).state is DatasetState.UPLOADING
    assert await read_gauge(dms, "sluice_datasets_halted") == {uploading: 0, deleting: 0}
    assert await upload_next_dataset(dms.context)

    assert (await dms.client.resume_dataset(uid)).state is DatasetState.UPLOADED, (
        "a repeated resume was refused"
    )
    assert dms.files_on(StorageType.OUTPUT)
    assert await read_gauge(dms, "sluice_datasets") == {
        (DatasetState.OPEN,): 0,
        uploading: 0,
        deleting: 0,
    }


async def test_unknown_data_set_cannot_be_resumed(dms: Dms) -> None:
    with pytest.raises(NotFound):
        await dms.client.resume_dataset(uuid4())


async def test_storage_gauges_show_used_and_free_bytes(dms: Dms) -> None:
    _, files = await dms.create_filled_dataset("some", 3)
    used, free = (
        await read_gauge(dms, "sluice_storage_used_bytes"),
        await read_gauge(dms, "sluice_storage_free_bytes"),
    )
    name = dms.storages[StorageType.INTERMEDIATE].name
    assert used[name, StorageType.INTERMEDIATE] == sum(file.size for file in files)
    assert used[dms.storages[StorageType.LOGS].name, StorageType.LOGS] == 0
    assert set(free) == set(used), "a storage has no gauge of free bytes"
    assert all(space > 0 for space in free.values())
