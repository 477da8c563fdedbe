"""The routes of the DMS answer and refuse requests."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from dms.usecases.datasets.close_complete_datasets import close_complete_datasets
from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType, StorageType
from sluice.contracts.data.datasets import NewDataset, NewStorage
from tests.integration.dms.conftest import Dms


async def test_repeated_registration_answers_with_the_first_data_set(dms: Dms) -> None:
    body = NewDataset(name="first", meta={"beam": 3}).model_dump(mode="json")
    first = await dms.http.post("/api/v1/datasets", json=body)
    again = await dms.http.post("/api/v1/datasets", json=body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()


@pytest.mark.parametrize(
    ("field", "value"),
    [("meta", {"beam": 4}), ("type", "logs"), ("on_demand", True), ("url", "file:///elsewhere/x")],
)
async def test_registration_that_differs_from_the_first_is_refused_by_field(
    dms: Dms, field: str, value: Any
) -> None:
    new = NewDataset(name="first", meta={"beam": 3})
    first = await dms.client.register_dataset(new)
    with pytest.raises(
        Conflict, match=rf"data set 'first' is registered already, differently: {field} is "
    ) as refusal:
        await dms.client.register_dataset(NewDataset(**{**new.model_dump(), field: value}))
    assert refusal.value.fields["dataset"] == str(first.uid)


async def test_folder_belongs_to_only_one_data_set(dms: Dms) -> None:
    url = dms.storages[StorageType.LOGS].url + "/shared"
    await dms.client.register_dataset(NewDataset(name="one", type=DatasetType.LOGS, url=url))
    with pytest.raises(Conflict, match="belongs to another data set"):
        await dms.client.register_dataset(NewDataset(name="two", type=DatasetType.LOGS, url=url))


async def test_files_are_registered_once_and_listed_by_sequence_number(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    files = [dms.write("frames", seq) for seq in (3, 1, 2)]
    first = await dms.client.register_many_files(uid, files)
    again = await dms.client.register_many_files(uid, [*files, dms.write("frames", 0)])
    assert (first.new, first.known, again.new, again.known) == (3, 0, 1, 3)
    files_listed = [file async for file in dms.client.iterate_files(uid, page=3)]
    assert [file.seq for file in files_listed] == [0, 1, 2, 3]
    assert [file.url for file in files_listed] == [
        f"file://{dms.path('frames', file.name)}" for file in files_listed
    ]
    assert all(file.meta == {"seq": file.seq} and file.dataset_uid == uid for file in files_listed)
    dataset = await dms.client.get_dataset(uid)
    assert (dataset.count_files, dataset.bytes) == (4, sum(file.size for file in files_listed))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"checksum": "sha256:" + "0" * 64},
            "file '00000001.1-data.bin' is registered already, with another checksum",
        ),
        ({"size": 9999}, "file '00000001.1-data.bin' is registered already, with another size"),
        (
            {"seq": 5},
            "file '00000001.1-data.bin' is registered already, with another place in the data set: "
            "number 1, not 5",
        ),
    ],
)
async def test_known_file_that_differs_is_refused_by_name(
    dms: Dms, change: dict[str, Any], sentence: str
) -> None:
    uid = await dms.dataset("frames")
    file = dms.write("frames", 1)
    await dms.client.register_many_files(uid, [file])
    with pytest.raises(Conflict, match=sentence):
        await dms.client.register_many_files(
            uid, [dms.write("frames", 2), file.model_copy(update=change)]
        )
    assert (await dms.client.get_dataset(uid)).count_files == 1, (
        "a part of the files was registered"
    )


async def test_known_file_at_another_url_is_refused(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    file = dms.write("frames", 1)
    await dms.client.register_many_files(uid, [file])
    with pytest.raises(Conflict, match="with another url"):
        await dms.client.register_many_files(
            uid, [file.model_copy(update={"url": file.url + ".copy"})]
        )


async def test_contradicting_files_of_a_request_are_refused(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    file = dms.write("frames", 1)
    with pytest.raises(Unprocessable, match="have the same name and differ otherwise"):
        await dms.client.register_many_files(uid, [file, file.model_copy(update={"size": 1})])
    with pytest.raises(Unprocessable, match="have the same url"):
        await dms.client.register_many_files(
            uid, [file, file.model_copy(update={"name": "other", "seq": 2})]
        )


async def test_file_in_several_data_sets_counts_once_on_its_storage(dms: Dms) -> None:
    one, two = await dms.dataset("one"), await dms.dataset("two")
    file = dms.write("one", 1)
    await dms.client.register_many_files(one, [file])
    await dms.client.register_many_files(
        two, [file.model_copy(update={"name": "shared", "seq": 7})]
    )
    pages = [await dms.client.list_files(uid) for uid in (one, two)]
    assert pages[0].files[0].id == pages[1].files[0].id
    (storage,) = await dms.client.list_storages(type=StorageType.INTERMEDIATE)
    assert storage.used == file.size
    third = file.model_copy(update={"name": "third", "checksum": f"sha256:{'0' * 64}"})
    with pytest.raises(Conflict, match=r"another content at file://"):
        await dms.client.register_many_files(two, [third])


async def test_new_files_of_a_closed_data_set_are_refused(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    file = dms.write("frames", 1)
    await dms.client.register_many_files(uid, [file])
    assert (await dms.client.close_dataset(uid)).state is DatasetState.CLOSED
    assert (await dms.client.register_many_files(uid, [file])).known == 1
    with pytest.raises(
        Conflict, match=r"data set 'frames' is closed: file '00000002.1-data.bin' cannot be added"
    ):
        await dms.client.register_many_files(uid, [dms.write("frames", 2)])


async def test_repeated_closing_succeeds_and_an_input_without_files_stays_open(dms: Dms) -> None:
    empty = await dms.dataset("empty", DatasetType.INPUT)
    with pytest.raises(Unprocessable, match=r"no files .*`sluice dataset delete empty`"):
        await dms.client.close_dataset(empty)
    logs = await dms.dataset("logs", DatasetType.LOGS)
    first, again = await dms.client.close_dataset(logs), await dms.client.close_dataset(logs)
    assert first == again
    assert first.state is DatasetState.CLOSED


async def test_input_without_files_closes_only_on_demand_and_at_zero_files(dms: Dms) -> None:
    """An ordinary input without files still waits for its files."""
    stand_in = await dms.client.register_dataset(NewDataset(name="none", on_demand=True))
    with pytest.raises(Unprocessable, match="data set 'none' has no files"):
        await dms.client.close_dataset(stand_in.uid)
    empty = await dms.dataset("empty", DatasetType.INPUT)
    with pytest.raises(Unprocessable, match="data set 'empty' has no files"):
        await dms.client.close_dataset(empty, files=0)
    closed = await dms.client.close_dataset(stand_in.uid, files=0)
    assert (closed.state, closed.count_files) == (DatasetState.CLOSED, 0)
    assert await dms.client.close_dataset(stand_in.uid, files=0) == closed


async def test_closing_at_a_number_of_files_waits_for_the_files(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    assert (await dms.client.close_dataset(uid, files=2)).state is DatasetState.OPEN
    await dms.client.register_many_files(uid, [dms.write("frames", 1)])
    with pytest.raises(Conflict, match="is complete with 2 files and would have 3"):
        await dms.client.register_many_files(uid, [dms.write("frames", 2), dms.write("frames", 3)])
    await dms.client.register_many_files(uid, [dms.write("frames", 2)])
    assert (await dms.client.close_dataset(uid)).state is DatasetState.CLOSED
    with pytest.raises(Conflict, match="is to close at 2 files, not at 3"):
        await dms.client.close_dataset(uid, files=3)


async def test_wrong_number_of_files_is_corrected_and_missing_files_are_named(dms: Dms) -> None:
    uid = await dms.dataset("frames", DatasetType.INPUT)
    assert (await dms.client.get_dataset_status(uid)).waits_for is None, (
        "it waits although no number of files is known"
    )
    await dms.client.close_dataset(uid, files=9)
    assert (
        await dms.client.get_dataset_status(uid)
    ).waits_for == "9 more files: 0 of 9 are registered"
    await dms.client.register_many_files(
        uid, [dms.write("frames", seq, type_=DatasetType.INPUT) for seq in (1, 2, 4, 7)]
    )
    status = await dms.client.get_dataset_status(uid)
    assert (status.state, status.usable, status.count_files, status.close_at) == (
        DatasetState.OPEN,
        False,
        4,
        9,
    )
    gaps = "with numbers from 1 to 7, but no file has 3, 5 to 6"
    assert status.waits_for == f"5 more files: 4 of 9 are registered, {gaps}"
    with pytest.raises(
        Conflict,
        match="is complete with 3 files and would have 4: if that number is wrong, close it with",
    ):
        await dms.client.close_dataset(uid, files=3)
    assert (await dms.client.close_dataset(uid, files=5)).state is DatasetState.OPEN
    assert (
        await dms.client.get_dataset_status(uid)
    ).waits_for == f"1 more file: 4 of 5 are registered, {gaps}"
    assert (await dms.client.close_dataset(uid, files=4)).state is DatasetState.CLOSED
    status = await dms.client.get_dataset_status(uid)
    assert (status.usable, status.waits_for) == (True, None)
    assert status.registered_at < (status.closed_at or status.registered_at)
    with pytest.raises(NotFound):
        await dms.client.get_dataset_status(uuid4())


async def test_number_corrected_during_registration_closes_the_data_set_once(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    await dms.client.close_dataset(uid, files=30)
    files = [dms.write("frames", seq) for seq in range(20)]
    corrections = [dms.client.close_dataset(uid, files=20) for _ in range(3)]
    await asyncio.gather(
        *(dms.client.register_many_files(uid, [file]) for file in files), *corrections
    )
    await close_complete_datasets(dms.database)
    assert (await dms.client.get_dataset(uid)).state is DatasetState.CLOSED
    assert len(await dms.fetch("SELECT 1 FROM outbox")) == 1


async def test_output_is_deleted_only_with_force(dms: Dms) -> None:
    uid = await dms.dataset("result", DatasetType.OUTPUT)
    with pytest.raises(Conflict, match="force=true"):
        await dms.client.delete_dataset(uid)
    assert (await dms.client.delete_dataset(uid, force=True)).state is DatasetState.DELETING
    logs = await dms.dataset("logs", DatasetType.LOGS)
    answer = await dms.http.delete(f"/api/v1/datasets/{logs}")
    assert (answer.status_code, answer.json()["state"]) == (202, "deleting")
    with pytest.raises(NotFound):
        await dms.client.delete_dataset(uuid4())


async def test_storages_are_listed_by_free_space_without_disabled_storages(
    dms: Dms, tmp_path: Path
) -> None:
    sizes = {"small": 10_000, "large": 30_000, "middle": 20_000}
    for name, capacity in sizes.items():
        (tmp_path / f"more-{name}").mkdir()
        new = NewStorage(
            name=name,
            type=StorageType.LOGS,
            url=f"file://{tmp_path}/more-{name}",
            capacity=capacity,
        )
        first, again = (
            await dms.client.register_storage(new),
            await dms.client.register_storage(new),
        )
        assert first == again
    assert [storage.name for storage in await dms.client.list_storages(type=StorageType.LOGS)] == [
        "logs-1",
        "large",
        "middle",
        "small",
    ]
    await dms.fetch("UPDATE storages SET enabled = false WHERE name = 'large'")
    assert [storage.name for storage in await dms.client.list_storages(type=StorageType.LOGS)] == [
        "logs-1",
        "middle",
        "small",
    ]
    assert len(await dms.client.list_storages()) == 6


async def test_storage_that_differs_or_has_an_irregular_url_is_refused(
    dms: Dms, tmp_path: Path
) -> None:
    url = dms.storages[StorageType.LOGS].url
    with pytest.raises(Conflict, match="name is 'logs-1', not 'other'"):
        await dms.client.register_storage(NewStorage(name="other", type=StorageType.LOGS, url=url))
    with pytest.raises(Conflict, match="url is "):
        await dms.client.register_storage(
            NewStorage(name="logs-1", type=StorageType.LOGS, url=f"file://{tmp_path}/other")
        )
    for whole in ("file:///data/%2e%2e", "file:///a//b"):
        with pytest.raises(Unprocessable, match="is not a plain folder below the root"):
            await dms.client.register_storage(
                NewStorage(name="whole", type=StorageType.LOGS, url=whole)
            )
