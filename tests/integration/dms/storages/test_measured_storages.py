"""Storages are listed with their free space and number of data sets."""

from dms.usecases.removal.delete_next_dataset import delete_next_dataset
from sluice.contracts.common.states import DatasetType, StorageType
from sluice.contracts.data.datasets import NewStorage
from tests.integration.dms.conftest import Dms


async def test_data_sets_are_counted_per_storage(dms: Dms) -> None:
    """A data set counts on the storage of its folder, or else of its first file."""
    await dms.create_filled_dataset("one", 2)
    deleted_uid, _ = await dms.create_filled_dataset("gone", 1)
    await dms.dataset("empty")
    await dms.create_filled_dataset("logs-of-one", 1, DatasetType.LOGS)
    answer = await dms.http.post("/api/v1/datasets", json={"name": "loose", "type": "input"})
    await dms.client.register_many_files(
        answer.json()["uid"], [dms.write("somewhere", 1, type_=DatasetType.INPUT)]
    )
    await dms.client.delete_dataset(deleted_uid)
    assert await delete_next_dataset(dms.context)
    counts = {
        one.type: one.datasets for one in await dms.client.list_storages(all=True, measured=True)
    }
    assert counts == {
        StorageType.INPUT: 1,
        StorageType.INTERMEDIATE: 2,
        StorageType.OUTPUT: 0,
        StorageType.LOGS: 1,
    }


async def test_free_space_of_a_storage_is_bounded_by_its_capacity(
    dms: Dms,
) -> None:
    (dms.folder / "small").mkdir()
    small = NewStorage(
        name="small", type=StorageType.LOGS, url=f"file://{dms.folder / 'small'}", capacity=1000
    )
    await dms.client.register_storage(small)
    sql = (
        "INSERT INTO storages (id, name, type, url, read_only) VALUES (gen_random_uuid(), 'bucket',"
        " 'input', 's3://b/in', true)"
    )
    await dms.fetch(sql)
    free_space = {
        one.name: one.free for one in await dms.client.list_storages(all=True, measured=True)
    }
    assert (free_space["small"], free_space["bucket"]) == (1000, None)
    assert free_space["input-1"] == dms.storage_monitor.free[dms.storages[StorageType.INPUT].url]
