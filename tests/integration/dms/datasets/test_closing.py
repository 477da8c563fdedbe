"""Complete data sets close in an order in which no client misses a data set."""

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from dms.db.datasets import mark_closed, take_closing_lock
from dms.usecases.datasets.close_dataset import close_dataset
from dms.usecases.datasets.list_datasets import DatasetQuery, list_datasets
from sluice.contracts.common.problems import NotFound, Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.datasets import DatasetPage
from sluice.contracts.messaging.messages import RegisterFiles
from tests.integration.dms.conftest import Dms
from tests.waiting import eventually


@pytest.mark.parametrize("first", ["files", "number"])
async def test_data_set_closes_when_its_files_are_registered_in_any_order_of_messages(
    dms: Dms, first: str
) -> None:
    uid = await dms.dataset("set")
    messages = [
        RegisterFiles(dataset_uid=uid, files=[dms.write("set", 1), dms.write("set", 2)]),
        RegisterFiles(dataset_uid=uid, close_at=3),
        RegisterFiles(dataset_uid=uid, files=[dms.write("set", 3)]),
    ]
    for message in messages if first == "files" else [messages[1], messages[0], messages[2]]:
        assert (await dms.client.get_dataset(uid)).state is DatasetState.OPEN
        await dms.apply(message)
    assert (await dms.client.get_dataset(uid)).state is DatasetState.CLOSED
    sent = await dms.fetch("SELECT destination FROM outbox")
    assert [row["destination"] for row in sent] == ["dms.dataset-closed"]


async def test_data_set_that_announces_no_files_is_closed(dms: Dms) -> None:
    uid = await dms.dataset("set")
    await dms.apply(RegisterFiles(dataset_uid=uid, close_at=0))
    assert (await dms.client.get_dataset(uid)).state is DatasetState.CLOSED


async def test_person_closes_a_data_set_with_fewer_files_than_announced(dms: Dms) -> None:
    """A message with some of the files was dropped."""
    uid = await dms.dataset("set")
    await dms.apply(RegisterFiles(dataset_uid=uid, files=[dms.write("set", 1)], close_at=3))
    await dms.client.register_many_files(uid, [dms.write("set", 2)])
    assert (await dms.client.close_dataset(uid, files=2)).state is DatasetState.CLOSED
    assert [row["destination"] for row in await dms.fetch("SELECT destination FROM outbox")] == [
        "dms.dataset-closed"
    ]


async def test_files_delivered_twice_are_registered_once(dms: Dms) -> None:
    uid = await dms.dataset("set")
    message = RegisterFiles(dataset_uid=uid, files=[dms.write("set", 1)], close_at=1)
    for _ in range(2):
        await dms.apply(message)
    dataset = await dms.client.get_dataset(uid)
    assert (dataset.count_files, dataset.bytes, dataset.state) == (
        1,
        message.files[0].size,
        DatasetState.CLOSED,
    )
    assert len(await dms.fetch("SELECT 1 FROM outbox")) == 1


async def test_messages_that_contradict_the_catalogue_are_refused(dms: Dms) -> None:
    uid, files = await dms.create_filled_dataset("set", 2)
    with pytest.raises(
        Unprocessable, match=r"is closed: file '00000009.1-data.bin' cannot be added"
    ):
        await dms.apply(RegisterFiles(dataset_uid=uid, files=[dms.write("set", 9)]))
    with pytest.raises(Unprocessable, match="another size"):
        await dms.apply(
            RegisterFiles(dataset_uid=uid, files=[files[0].model_copy(update={"size": 1})])
        )
    with pytest.raises(Unprocessable, match="is to close at 2 files, not at 3"):
        await dms.apply(RegisterFiles(dataset_uid=uid, close_at=3))
    with pytest.raises(NotFound):
        await dms.apply(RegisterFiles(dataset_uid=UUID(int=0)))


def make_query_by_cursor(page: DatasetPage, query: DatasetQuery) -> dict[str, Any]:
    return {"after": page.after}


def make_query_by_time(page: DatasetPage, query: DatasetQuery) -> dict[str, Any]:
    """Query by the newest timestamp of the page, as a client that keeps nothing else."""
    times = [dataset.timestamp for dataset in page.datasets]
    return {"timestamp": max(times, default=query.timestamp)}


@pytest.mark.parametrize("going_on", [make_query_by_cursor, make_query_by_time])
async def test_client_gets_each_concurrently_closed_data_set_once(
    dms: Dms, going_on: Callable[[DatasetPage, DatasetQuery], dict[str, Any]]
) -> None:
    plain = [await dms.dataset(f"d{number}", DatasetType.LOGS) for number in range(60)]
    counted = [await dms.dataset(f"c{number}", DatasetType.LOGS) for number in range(60)]

    async def close_counted() -> None:
        for uid in counted:
            await dms.apply(RegisterFiles(dataset_uid=uid, close_at=0))

    instances = [dms.context.database, dms.other_context.database]
    closing: list[asyncio.Task[Any]] = [asyncio.create_task(close_counted())]
    for number, uid in enumerate(plain):
        closing.append(asyncio.create_task(close_dataset(instances[number % 2], uid, files=None)))
    uids_seen: list[UUID] = []
    query = DatasetQuery(limit=7, type=DatasetType.LOGS)
    while True:
        done = all(task.done() for task in closing)
        page = await list_datasets(dms.database, query)
        uids_seen += [dataset.uid for dataset in page.datasets]
        query = query.model_copy(update=going_on(page, query))
        if done and not page.datasets:
            break
    await asyncio.gather(*closing)
    assert len(uids_seen) == len(set(uids_seen)), "a data set was listed twice"
    assert set(uids_seen) == {*plain, *counted}, "a data set was missed"


async def test_late_commit_of_a_closing_is_not_hidden_behind_the_cursor(dms: Dms) -> None:
    slow, quick = await dms.dataset("slow"), await dms.dataset("quick")
    async with dms.other_context.database.transaction() as transaction:
        await take_closing_lock(transaction.connection)
        assert await mark_closed(transaction.connection, [slow])
        other = asyncio.create_task(close_dataset(dms.database, quick, files=None))

        async def waits() -> bool:
            return bool(
                await dms.fetch(
                    "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
                )
            )

        await eventually(waits, what="the second closing waits for the first")
        assert (await dms.client.list_closed_datasets()).datasets == []
    await other
    assert [dataset.uid for dataset in (await dms.client.list_closed_datasets()).datasets] == [
        slow,
        quick,
    ]


async def test_data_set_that_closes_later_has_a_later_timestamp(
    dms: Dms,
) -> None:
    early, late, batch = (
        await dms.dataset("early"),
        await dms.dataset("late"),
        [await dms.dataset(f"b{n}") for n in range(20)],
    )
    async with dms.other_context.database.transaction() as transaction:
        await transaction.connection.fetchval(
            "SELECT now()"
        )  # now() keeps this time until the end of the transaction
        await close_dataset(dms.database, late, files=None)
        [first] = (await dms.client.list_closed_datasets()).datasets
        await take_closing_lock(transaction.connection)
        await mark_closed(transaction.connection, [early, *batch])
    page = await dms.client.list_closed_datasets(timestamp=first.timestamp)
    assert [dataset.uid for dataset in page.datasets] == [early, *batch]
    times = [dataset.timestamp for dataset in page.datasets]
    assert times == sorted(set(times))
    assert times == [dataset.closed_at for dataset in page.datasets]
    assert (await dms.client.list_closed_datasets(timestamp=times[-1])).datasets == []


async def test_clock_that_goes_back_does_not_set_back_closing_times(dms: Dms) -> None:
    first, second = await dms.dataset("first"), await dms.dataset("second")
    await dms.client.close_dataset(first)
    await dms.fetch("UPDATE datasets SET closed_at = now() + interval '1 h' WHERE uid = $1", first)
    ahead = (await dms.client.get_dataset(first)).timestamp
    await dms.client.close_dataset(second)
    assert [
        one.uid for one in (await dms.client.list_closed_datasets(timestamp=ahead)).datasets
    ] == [second]


async def test_list_with_states_is_filtered_by_the_same_timestamp(dms: Dms) -> None:
    uids = [await dms.dataset(name) for name in ("closed", "open")]
    timestamp = (await dms.client.get_dataset(uids[1])).timestamp
    await dms.client.close_dataset(uids[0])
    page = await list_datasets(
        dms.database, DatasetQuery(state=list(DatasetState), timestamp=timestamp)
    )
    assert [dataset.uid for dataset in page.datasets] == uids[:1]
    answer = await dms.http.get("/api/v1/datasets", params={"timestamp": "2026-01-01T00:00:00"})
    assert answer.status_code == 422
    assert "timezone" in answer.json()["detail"]


async def test_concurrent_closings_close_a_data_set_once(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("set", 1, close=False)
    answers = await asyncio.gather(
        *(
            close_dataset(context.database, uid, files=None)
            for context in (dms.context, dms.other_context)
            for _ in range(5)
        )
    )
    assert {(answer.state, answer.closed_at) for answer in answers} == {
        (DatasetState.CLOSED, answers[0].closed_at)
    }
    assert len(await dms.fetch("SELECT 1 FROM outbox")) == 1
