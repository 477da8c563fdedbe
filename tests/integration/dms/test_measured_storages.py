"""Storages with what is free on them, and how many data sets lie there."""

from dms.loops.workers import delete_once
from sluice.contracts.datasets import NewStorage
from sluice.contracts.states import DatasetType, StorageType
from tests.integration.dms.conftest import Dms


async def test_data_sets_are_counted_where_they_lie(dms: Dms) -> None:
    """By their folder; one that has none, by its first file."""
    await dms.filled("one", 2)
    gone, _ = await dms.filled("gone", 1)
    await dms.dataset("empty")
    await dms.filled("logs-of-one", 1, DatasetType.LOGS)
    answer = await dms.http.post("/api/v1/datasets", json={"name": "loose", "type": "input"})
    await dms.client.register_files(
        answer.json()["uid"], [dms.write("somewhere", 1, type_=DatasetType.INPUT)]
    )
    await dms.client.delete_dataset(gone)
    assert await delete_once(dms.context)
    found = {
        one.type: one.datasets for one in await dms.client.storages(everything=True, measured=True)
    }
    assert found == {
        StorageType.INPUT: 1,
        StorageType.INTERMEDIATE: 2,
        StorageType.OUTPUT: 0,
        StorageType.LOGS: 1,
    }


async def test_what_still_fits_is_what_is_free_and_no_more_than_the_capacity_leaves(
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
    found = {
        one.name: one.free for one in await dms.client.storages(everything=True, measured=True)
    }
    assert (found["small"], found["bucket"]) == (1000, None)
    assert found["input-1"] == dms.watch.free[dms.storages[StorageType.INPUT].url]


async def test_releases_before_are_told_nothing_new(dms: Dms) -> None:
    listed = await dms.http.get("/api/v1/storages", params={"all": True})
    assert all("free" not in one and "datasets" not in one for one in listed.json())
