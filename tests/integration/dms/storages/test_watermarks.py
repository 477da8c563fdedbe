"""An input storage is filling from its high watermark until it is below its low watermark."""

import asyncio
from uuid import UUID, uuid4

import pytest

from dms.usecases.removal.delete_next_dataset import delete_next_dataset
from dms.usecases.storages.set_watermarks import set_watermarks
from dms.usecases.storages.watch_watermarks import watch_watermarks
from sluice.contracts.common.problems import NotFound, Unprocessable
from sluice.contracts.common.states import DatasetType, StorageType
from sluice.contracts.data.datasets import NewStorage, Storage, Watermarks
from tests.integration.dms.conftest import Dms

NAME = "input-1"


async def update_storage_twice(dms: Dms) -> Storage:
    """Return the input storage after two instances have updated its level at once."""
    await asyncio.gather(
        *(watch_watermarks(dms.database, dms.storage_monitor.free) for _ in range(2))
    )
    return next(
        one
        for one in await dms.client.list_storages(type=StorageType.INPUT, all=True)
        if one.name == NAME
    )


async def create_filled_dataset(dms: Dms, name: str, size: int) -> UUID:
    uid = await dms.dataset(name, DatasetType.INPUT)
    await dms.client.register_many_files(uid, [dms.write(name, 0, bytes(size), DatasetType.INPUT)])
    await dms.client.close_dataset(uid)
    return uid


async def delete(dms: Dms, uid: UUID) -> None:
    await dms.client.delete_dataset(uid, force=True)
    assert await delete_next_dataset(dms.context)


async def test_storage_is_filling_between_its_high_and_its_low_watermark(dms: Dms) -> None:
    await dms.client.mark_storage(NAME, Watermarks(low=50, high=100))
    first = await create_filled_dataset(dms, "first", 60)
    assert (await update_storage_twice(dms)).filling_since is None
    second, third = (
        await create_filled_dataset(dms, "second", 30),
        await create_filled_dataset(dms, "third", 10),
    )
    since = (await update_storage_twice(dms)).filling_since
    assert since is not None
    await delete(dms, second)
    assert (await update_storage_twice(dms)).filling_since == since, (
        "the state changed between the watermarks"
    )
    await delete(dms, first)
    assert (await update_storage_twice(dms)).filling_since is None
    assert await dms.client.list_datasets_on(NAME, [first, third, uuid4()]) == [third], (
        "a deleted data set is listed"
    )


async def test_watermarks_take_effect_at_once_and_can_be_removed(dms: Dms) -> None:
    await create_filled_dataset(dms, "there", 60)
    marks = Watermarks(low=10, high=20)
    marked = await dms.client.mark_storage(NAME, marks)
    assert (marked.marks, marked.filling_since is not None) == (marks, True)
    assert (await dms.client.mark_storage(NAME, marks)).filling_since == marked.filling_since
    assert (
        await dms.client.mark_storage(NAME, Watermarks(low=60, high=90))
    ).filling_since is None, "new watermarks kept the old state"
    assert (await dms.client.unmark_storage(NAME)).marks is None
    assert (await update_storage_twice(dms)).marks is None


async def test_relative_watermarks_without_a_capacity_refer_to_the_file_system(dms: Dms) -> None:
    """Storages of an embedded system have no capacity."""
    free = dms.storage_monitor.free[dms.storages[StorageType.INPUT].url]
    marks = Watermarks(low=20 / free, high=50 / free)
    assert (await dms.client.mark_storage(NAME, marks)).filling_since is None
    first = await create_filled_dataset(dms, "first", 60)
    assert (await update_storage_twice(dms)).filling_since is not None
    await delete(dms, first)
    assert (await update_storage_twice(dms)).filling_since is None


async def test_storage_gets_watermarks_before_an_instance_has_checked_it(dms: Dms) -> None:
    (dms.folder / "fresh").mkdir()
    await dms.client.register_storage(
        NewStorage(name="fresh", type=StorageType.INPUT, url=f"file://{dms.folder / 'fresh'}")
    )
    marks = Watermarks(low=0.5, high=0.8)
    marked = await set_watermarks(dms.other_context, "fresh", marks)
    assert marked.marks == marks


async def test_answer_to_watermarks_has_the_reason_why_the_storage_gets_no_data(dms: Dms) -> None:
    dms.storage_monitor.rejection_reasons = {
        dms.storages[StorageType.INPUT].id: "its folder is a link"
    }
    marked = await dms.client.mark_storage(NAME, Watermarks(low=50, high=100))
    assert marked.warning == "its folder is a link"


async def test_watermarks_of_an_unsuitable_storage_are_refused(dms: Dms) -> None:
    with pytest.raises(Unprocessable, match="are for input storages, and it is of type logs"):
        await dms.client.mark_storage("logs-1", Watermarks(low=10, high=20))
    bucket = ("bucket", "input", "s3://bucket/input")
    sql = (
        "INSERT INTO storages (id, name, type, url, read_only) VALUES (gen_random_uuid(), $1, $2,"
        " $3, true)"
    )
    await dms.fetch(sql, *bucket)
    with pytest.raises(
        Unprocessable, match=r"shares of its capacity, which is not known: .* give bytes"
    ):
        await dms.client.mark_storage("bucket", Watermarks(low=0.5, high=0.8))
    for call in (
        dms.client.mark_storage("none", Watermarks(low=10, high=20)),
        dms.client.unmark_storage("none"),
    ):
        with pytest.raises(NotFound):
            await call
    with pytest.raises(NotFound):
        await dms.client.list_datasets_on("none", [uuid4()])
