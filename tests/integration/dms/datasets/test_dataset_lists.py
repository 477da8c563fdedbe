"""Data sets are found by uid, by name, and in lists."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from sluice.clients.paging import MAX_UIDS
from sluice.contracts.common.problems import NotFound, Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.datasets import DatasetPage, NewDataset
from tests.integration.dms.conftest import Dms

#: Without states, only closed data sets are listed.
EVERY_STATE = tuple(DatasetState)


async def test_data_set_is_found_by_uid_and_by_name_in_any_state(dms: Dms) -> None:
    uid = await dms.dataset("mine")
    assert (await dms.client.get_dataset(uid)).state is DatasetState.OPEN
    dataset = await dms.client.find_dataset_by_name("mine")
    assert dataset is not None
    assert dataset.uid == uid
    assert await dms.client.find_dataset_by_name("other") is None
    unknown = uuid4()
    with pytest.raises(NotFound, match=f"no data set has the uid {unknown}"):
        await dms.client.get_dataset(unknown)


async def test_outputs_of_chains_are_found_by_output_name_unless_the_name_is_registered(
    dms: Dms,
) -> None:
    async def output(name: str, **meta: str) -> UUID:
        return (
            await dms.client.register_dataset(
                NewDataset(name=name, type=DatasetType.OUTPUT, meta=meta)
            )
        ).uid

    async def list_named(name: str, **others: Any) -> list[UUID]:
        return [one.uid for one in (await dms.client.list_datasets(name=name, **others)).datasets]

    first = await output("a.sum.report", chain="a", output_name="week.1.report")
    second = await output("b.sum.report", chain="b", output_name="week.1.report")
    await output(
        "mine", output_name="week.1.report"
    )  # no chain wrote it, so its metadata is the owner's
    assert await list_named("week.1.report") == [first, second]
    assert await list_named("week.1.report", newest=True, limit=1) == [second]
    assert await list_named("week.1.report", state=[DatasetState.CLOSED]) == []
    assert await list_named("a.sum.report") == [first]
    assert await dms.client.find_dataset_by_name("week.1.report") is None, (
        "services found an output by its output name"
    )
    own = await dms.dataset("week.1.report")
    assert await list_named("week.1.report") == [own]


async def test_several_data_sets_are_read_by_their_uids(dms: Dms) -> None:
    datasets = [
        await dms.client.register_dataset(NewDataset(name=name)) for name in ("one", "two", "three")
    ]
    uids = [dataset.uid for dataset in datasets]
    assert await dms.client.list_datasets_by_uid([uids[2], uuid4(), uids[0]]) == [
        datasets[0],
        datasets[2],
    ]
    assert await dms.client.list_datasets_by_uid([uuid4()]) == []
    assert await dms.client.list_datasets_by_uid([]) == []
    many = [uuid4() for _ in range(MAX_UIDS)]
    assert await dms.client.list_datasets_by_uid([uids[0], *many, uids[1]]) == datasets[:2], (
        "uids beyond the limit of a request were lost"
    )
    with pytest.raises(
        Unprocessable,
        match="give the uids of data sets or other conditions, not both: leave out newest, or uid",
    ):
        await dms.client.call(
            "GET", "/api/v1/datasets", answer=DatasetPage, params={"uid": uids, "newest": True}
        )


async def test_list_without_states_has_usable_data_sets_in_order_of_closing(
    dms: Dms,
) -> None:
    uids = [await dms.dataset(f"d{number}") for number in range(4)]
    for uid in (uids[2], uids[0], uids[3]):
        await dms.client.close_dataset(uid)
    await dms.client.delete_dataset(uids[0])
    page = await dms.client.list_closed_datasets(type=DatasetType.INTERMEDIATE)
    assert [dataset.uid for dataset in page.datasets] == [uids[2], uids[3]]
    later = await dms.client.list_closed_datasets(after=page.after)
    assert (later.datasets, later.after) == ([], page.after)
    assert page.datasets[0].closed_at is not None
    since = await dms.client.list_closed_datasets(timestamp=page.datasets[0].closed_at)
    assert [dataset.uid for dataset in since.datasets] == [uids[3]]
    assert (await dms.client.list_closed_datasets(type=DatasetType.INPUT)).datasets == []


async def test_list_with_states_is_in_order_of_registration_with_its_own_cursor(
    dms: Dms,
) -> None:
    uids = [await dms.dataset(f"d{number}") for number in range(3)]
    await dms.client.close_dataset(uids[1])
    everything = await dms.client.list_datasets(state=EVERY_STATE, limit=2)
    assert [dataset.uid for dataset in everything.datasets] == uids[:2]
    rest = await dms.client.list_datasets(state=EVERY_STATE, after=everything.after)
    assert [dataset.uid for dataset in rest.datasets] == uids[2:]
    opened = await dms.client.list_datasets(state=[DatasetState.OPEN])
    assert [dataset.uid for dataset in opened.datasets] == [uids[0], uids[2]]
    for cursor in (everything.after, "c", "c-1", "cx", "9"):
        with pytest.raises(Unprocessable, match="is not a cursor of this list"):
            await dms.client.list_closed_datasets(after=cursor)
    with pytest.raises(Unprocessable, match="is not a cursor of this list"):
        await dms.client.list_files(uids[0], after="no place")


async def test_newest_data_sets_come_first_on_request(dms: Dms) -> None:
    uids = [await dms.dataset(f"d{number}") for number in range(5)]
    await dms.client.close_dataset(uids[3])
    listed, cursor = [], None
    while (
        page := await dms.client.list_datasets(
            state=EVERY_STATE, limit=2, newest=True, after=cursor
        )
    ).datasets:
        listed += [dataset.uid for dataset in page.datasets]
        cursor = page.after
    assert listed == uids[::-1]
    opened = await dms.client.list_datasets(state=[DatasetState.OPEN], newest=True)
    assert [dataset.uid for dataset in opened.datasets] == [uids[4], uids[2], uids[1], uids[0]]
    with pytest.raises(Unprocessable, match="is not a cursor of this list"):
        await dms.client.list_datasets(state=EVERY_STATE, after=cursor)
