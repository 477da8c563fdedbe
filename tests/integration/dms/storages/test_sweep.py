"""The sweep removes files that attempts left behind, and no others."""

from pathlib import Path

import pytest

from dms.usecases.removal.delete_next_dataset import delete_next_dataset
from dms.usecases.removal.sweep_next_folder import sweep_next_folder
from sluice.contracts.common.states import DatasetType, StorageType
from sluice.contracts.data.datasets import NewDataset
from tests.integration.dms.conftest import Dms

#: Files that attempts leave: outputs, logs, checkpoints and half-written files.
LEFTOVER_FILES = [
    "00000001.2-data.bin",
    "00000077.1.log",
    "00000077.1-checkpoint.12",
    "00000077.1-checkpoint-list.0.json",
    ".part-0123456789abcdef",
]
OTHERS = ["notes.txt", "00000001.bin", "123.1-data.bin", "deeper/00000001.5-data.bin"]


def leave(
    dms: Dms, dataset: str, names: list[str], type_: DatasetType = DatasetType.INTERMEDIATE
) -> None:
    for name in names:
        path = dms.path(dataset, name, type_)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("left")


async def sweep_all(dms: Dms) -> None:
    while await sweep_next_folder(dms.context):
        pass


async def test_unregistered_files_of_attempts_are_removed_when_the_data_set_closes(
    dms: Dms,
) -> None:
    uid, files = await dms.create_filled_dataset("set", 3, close=False)
    leave(dms, "set", [*LEFTOVER_FILES, *OTHERS])
    assert not await sweep_next_folder(dms.context), "an open data set was swept"
    await dms.client.close_dataset(uid)
    await sweep_all(dms)
    assert dms.files_on(StorageType.INTERMEDIATE) == sorted(
        f"set/{name}" for name in [*OTHERS, *(file.name for file in files)]
    )


async def test_links_left_by_attempts_do_not_block_the_sweep(dms: Dms, tmp_path: Path) -> None:
    uid, files = await dms.create_filled_dataset("set", 1, close=False)
    (tmp_path / "kept").write_text("kept")
    targets = {
        "file": str(tmp_path / "kept"),
        "folder": str(tmp_path),
        "itself": "00000077.1-itself",
    }
    for name, target in targets.items():
        dms.path("set", f"00000077.1-{name}").symlink_to(target)
    await dms.client.close_dataset(uid)
    await sweep_all(dms)
    left = {path.name for path in dms.path("set", "").iterdir()}
    assert left == {files[0].name, "00000077.1-itself"}
    assert (tmp_path / "kept").read_text() == "kept"


async def test_folder_is_swept_a_second_time_and_no_third_time(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("set", 1)
    await sweep_all(dms)
    assert (await dms.row(uid))["sweep_at"] is not None
    leave(dms, "set", LEFTOVER_FILES)
    await dms.fetch(
        "UPDATE datasets SET sweep_at = now(), closed_at = closed_at - interval '1 h' WHERE uid"
        " = $1",
        uid,
    )
    assert await sweep_next_folder(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == ["set/00000000.1-data.bin"]
    assert (await dms.row(uid))["sweep_at"] is None


async def test_folder_recreated_by_a_late_attempt_after_the_deletion_is_removed(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("set", 1)
    await dms.client.delete_dataset(uid)
    assert await delete_next_dataset(dms.context)
    leave(dms, "set", LEFTOVER_FILES)
    await dms.fetch("UPDATE datasets SET sweep_at = now() WHERE uid = $1", uid)
    await sweep_all(dms)
    assert not dms.path("set", "").exists()


async def test_folder_of_an_input_loses_only_half_written_files(dms: Dms) -> None:
    """The other files belong to the owner of the folder."""
    *others, half = LEFTOVER_FILES
    others.append(".part-of-mine")
    uid, _ = await dms.create_filled_dataset("given", 1, DatasetType.INPUT)
    leave(dms, "given", [*others, half], DatasetType.INPUT)
    await sweep_all(dms)
    await dms.client.delete_dataset(uid)
    assert await delete_next_dataset(dms.context)
    assert dms.files_on(StorageType.INPUT) == sorted(f"given/{name}" for name in others)


async def test_files_registered_by_another_data_set_are_not_swept(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("set", 1, close=False)
    other = await dms.dataset("other")
    file = dms.write("set", 8)
    await dms.client.register_many_files(other, [file])
    await dms.client.close_dataset(uid)
    await sweep_all(dms)
    assert dms.path("set", file.name).exists()


async def test_nested_folder_of_another_data_set_is_neither_swept_nor_deleted(dms: Dms) -> None:
    outer, _ = await dms.create_filled_dataset("outer", 1, close=False)
    url = dms.storages[StorageType.INTERMEDIATE].url + "/outer/inner"
    await dms.client.register_dataset(
        NewDataset(name="inner", type=DatasetType.INTERMEDIATE, url=url)
    )
    leave(dms, "outer", ["inner/00000003.1-data.bin"])
    await dms.client.close_dataset(outer)
    await sweep_all(dms)
    await dms.client.delete_dataset(outer)
    assert await delete_next_dataset(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == ["outer/inner/00000003.1-data.bin"]


@pytest.mark.parametrize("column", ["read_only", "NOT enabled"])
async def test_read_only_storages_are_not_swept_and_disabled_storages_are(
    dms: Dms, column: str
) -> None:
    await dms.create_filled_dataset("set", 1)
    leave(dms, "set", LEFTOVER_FILES)
    await dms.fetch("UPDATE storages SET read_only = $1, enabled = $1", column == "read_only")
    await sweep_all(dms)
    assert len(dms.files_on(StorageType.INTERMEDIATE)) == (
        1 + len(LEFTOVER_FILES) if column == "read_only" else 1
    )
