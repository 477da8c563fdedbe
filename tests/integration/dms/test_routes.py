"""All routes of the DMS: what they answer, and how they refuse."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from dms.usecases.close_dataset import close_complete
from sluice.clients.paging import UIDS
from sluice.contracts.datasets import (
    DatasetPage,
    NewDataset,
    NewFrame,
    NewPeriod,
    NewRun,
    NewStorage,
)
from sluice.contracts.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.states import DatasetState, DatasetType, StorageType
from tests.integration.dms.conftest import Dms


async def test_a_repeated_registration_answers_with_the_first_data_set(dms: Dms) -> None:
    body = NewDataset(name="first", meta={"beam": 3}).model_dump(mode="json")
    first = await dms.http.post("/api/v1/datasets", json=body)
    again = await dms.http.post("/api/v1/datasets", json=body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()


@pytest.mark.parametrize(
    ("field", "value"),
    [("meta", {"beam": 4}), ("type", "logs"), ("on_demand", True), ("url", "file:///elsewhere/x")],
)
async def test_a_known_name_with_another_request_is_refused_naming_the_difference(
    dms: Dms, field: str, value: Any
) -> None:
    new = NewDataset(name="first", meta={"beam": 3})
    first = await dms.client.register_dataset(new)
    with pytest.raises(
        Conflict, match=rf"data set 'first' is registered already, differently: {field} is "
    ) as refusal:
        await dms.client.register_dataset(NewDataset(**{**new.model_dump(), field: value}))
    assert refusal.value.fields["dataset"] == str(first.uid)


async def test_a_folder_belongs_to_one_data_set(dms: Dms) -> None:
    url = dms.storages[StorageType.LOGS].url + "/shared"
    await dms.client.register_dataset(NewDataset(name="one", type=DatasetType.LOGS, url=url))
    with pytest.raises(Conflict, match="is another data set's"):
        await dms.client.register_dataset(NewDataset(name="two", type=DatasetType.LOGS, url=url))


async def test_period_and_run_of_a_data_set_are_checked_and_the_period_follows_from_the_run(
    dms: Dms,
) -> None:
    for name in ("2026-spring", "2026-autumn"):
        await dms.client.register_period(NewPeriod(name=name))
    await dms.client.register_run(NewRun(number=7, period="2026-spring"))
    assert (await dms.client.register_dataset(NewDataset(name="a", run=7))).period == "2026-spring"
    with pytest.raises(Unprocessable, match="run 8 is not registered"):
        await dms.client.register_dataset(NewDataset(name="b", run=8))
    with pytest.raises(Unprocessable, match="period 'never' is not registered"):
        await dms.client.register_dataset(NewDataset(name="c", period="never"))
    with pytest.raises(
        Unprocessable, match="run 7 belongs to period '2026-spring', not '2026-autumn'"
    ):
        await dms.client.register_dataset(NewDataset(name="d", run=7, period="2026-autumn"))


async def test_a_data_set_is_read_by_uid_and_found_by_name_in_any_state(dms: Dms) -> None:
    uid = await dms.dataset("mine")
    assert (await dms.client.dataset(uid)).state is DatasetState.OPEN
    found = await dms.client.dataset_named("mine")
    assert found is not None
    assert found.uid == uid
    assert await dms.client.dataset_named("other") is None
    unknown = uuid4()
    with pytest.raises(NotFound, match=f"no data set has the uid {unknown}"):
        await dms.client.dataset(unknown)


async def test_outputs_of_chains_are_found_by_what_people_call_them_unless_one_is_registered_so(
    dms: Dms,
) -> None:
    async def output(name: str, **meta: str) -> UUID:
        return (
            await dms.client.register_dataset(
                NewDataset(name=name, type=DatasetType.OUTPUT, meta=meta)
            )
        ).uid

    async def called(name: str, **others: Any) -> list[UUID]:
        return [one.uid for one in (await dms.client.datasets(name=name, **others)).datasets]

    first = await output("a.sum.report", chain="a", output_name="week.1.report")
    second = await output("b.sum.report", chain="b", output_name="week.1.report")
    await output(
        "mine", output_name="week.1.report"
    )  # no chain wrote it: its metadata is its owner's
    assert await called("week.1.report") == [first, second]
    assert await called("week.1.report", newest=True, limit=1) == [second]
    assert await called("week.1.report", states=[DatasetState.CLOSED]) == []
    assert await called("a.sum.report") == [first]
    assert await dms.client.dataset_named("week.1.report") is None, (
        "what services ask for is the registered name"
    )
    own = await dms.dataset("week.1.report")
    assert await called("week.1.report") == [own]


async def test_several_data_sets_are_read_by_their_uids_in_one_answer(dms: Dms) -> None:
    made = [
        await dms.client.register_dataset(NewDataset(name=name)) for name in ("one", "two", "three")
    ]
    known = [dataset.uid for dataset in made]
    assert await dms.client.datasets_of([known[2], uuid4(), known[0]]) == [made[0], made[2]]
    assert await dms.client.datasets_of([uuid4()]) == []
    assert await dms.client.datasets_of([]) == []
    many = [uuid4() for _ in range(UIDS)]
    assert await dms.client.datasets_of([known[0], *many, known[1]]) == made[:2], (
        "more than one request carries"
    )
    with pytest.raises(
        Unprocessable,
        match="by their uids or by other conditions, not both: leave out newest, or uid",
    ):
        await dms.client.call(
            "GET", "/api/v1/datasets", answer=DatasetPage, params={"uid": known, "newest": True}
        )


async def test_files_are_registered_once_and_read_in_order_of_seq(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    files = [dms.write("frames", seq) for seq in (3, 1, 2)]
    first = await dms.client.register_files(uid, files)
    again = await dms.client.register_files(uid, [*files, dms.write("frames", 0)])
    assert (first.new, first.known, again.new, again.known) == (3, 0, 1, 3)
    seen = [file async for file in dms.client.all_files(uid, page=3)]
    assert [file.seq for file in seen] == [0, 1, 2, 3]
    assert [file.url for file in seen] == [
        f"file://{dms.path('frames', file.name)}" for file in seen
    ]
    assert all(file.meta == {"seq": file.seq} and file.dataset_uid == uid for file in seen)
    dataset = await dms.client.dataset(uid)
    assert (dataset.count_files, dataset.bytes) == (4, sum(file.size for file in seen))


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
            "file '00000001.1-data.bin' is registered already, with another place in the data set: number 1, not 5",
        ),
    ],
)
async def test_a_known_file_that_differs_is_refused_by_name(
    dms: Dms, change: dict[str, Any], sentence: str
) -> None:
    uid = await dms.dataset("frames")
    file = dms.write("frames", 1)
    await dms.client.register_files(uid, [file])
    with pytest.raises(Conflict, match=sentence):
        await dms.client.register_files(
            uid, [dms.write("frames", 2), file.model_copy(update=change)]
        )
    assert (await dms.client.dataset(uid)).count_files == 1, "all or nothing"


async def test_a_known_file_at_another_url_is_refused_by_name(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    file = dms.write("frames", 1)
    await dms.client.register_files(uid, [file])
    with pytest.raises(Conflict, match="with another url"):
        await dms.client.register_files(uid, [file.model_copy(update={"url": file.url + ".copy"})])


async def test_files_of_one_request_must_not_contradict_each_other(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    file = dms.write("frames", 1)
    with pytest.raises(Unprocessable, match="have the same name and differ otherwise"):
        await dms.client.register_files(uid, [file, file.model_copy(update={"size": 1})])
    with pytest.raises(Unprocessable, match="have the same url"):
        await dms.client.register_files(
            uid, [file, file.model_copy(update={"name": "other", "seq": 2})]
        )


async def test_a_file_may_be_in_several_data_sets_and_lies_on_its_storage_once(dms: Dms) -> None:
    one, two = await dms.dataset("one"), await dms.dataset("two")
    file = dms.write("one", 1)
    await dms.client.register_files(one, [file])
    await dms.client.register_files(two, [file.model_copy(update={"name": "shared", "seq": 7})])
    pages = [await dms.client.files(uid) for uid in (one, two)]
    assert pages[0].files[0].id == pages[1].files[0].id
    (storage,) = await dms.client.storages(StorageType.INTERMEDIATE)
    assert storage.used == file.size
    third = file.model_copy(update={"name": "third", "checksum": f"sha256:{'0' * 64}"})
    with pytest.raises(Conflict, match=r"another content at file://"):
        await dms.client.register_files(two, [third])


async def test_files_of_a_closed_data_set_are_refused_unless_known(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    file = dms.write("frames", 1)
    await dms.client.register_files(uid, [file])
    assert (await dms.client.close_dataset(uid)).state is DatasetState.CLOSED
    assert (await dms.client.register_files(uid, [file])).known == 1
    with pytest.raises(
        Conflict, match=r"data set 'frames' is closed: file '00000002.1-data.bin' cannot be added"
    ):
        await dms.client.register_files(uid, [dms.write("frames", 2)])


async def test_closing_twice_is_fine_and_an_input_without_files_is_not_closed(dms: Dms) -> None:
    empty = await dms.dataset("empty", DatasetType.INPUT)
    with pytest.raises(Unprocessable, match="data set 'empty' has no files"):
        await dms.client.close_dataset(empty)
    logs = await dms.dataset("logs", DatasetType.LOGS)
    first, again = await dms.client.close_dataset(logs), await dms.client.close_dataset(logs)
    assert first == again
    assert first.state is DatasetState.CLOSED


async def test_closing_at_a_number_of_files_waits_for_them(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    assert (await dms.client.close_dataset(uid, files=2)).state is DatasetState.OPEN
    await dms.client.register_files(uid, [dms.write("frames", 1)])
    with pytest.raises(Conflict, match="is complete with 2 files and would have 3"):
        await dms.client.register_files(uid, [dms.write("frames", 2), dms.write("frames", 3)])
    await dms.client.register_files(uid, [dms.write("frames", 2)])
    assert (await dms.client.close_dataset(uid)).state is DatasetState.CLOSED
    with pytest.raises(Conflict, match="is to close at 2 files, not at 3"):
        await dms.client.close_dataset(uid, files=3)


async def test_a_wrong_number_of_files_is_corrected_and_what_is_missing_is_said(dms: Dms) -> None:
    uid = await dms.dataset("frames", DatasetType.INPUT)
    assert (await dms.client.dataset_status(uid)).waits_for is None, (
        "nobody has said how many there are"
    )
    await dms.client.close_dataset(uid, files=9)
    assert (await dms.client.dataset_status(uid)).waits_for == "9 more files: 0 of 9 are registered"
    await dms.client.register_files(
        uid, [dms.write("frames", seq, type_=DatasetType.INPUT) for seq in (1, 2, 4, 7)]
    )
    status = await dms.client.dataset_status(uid)
    assert (status.state, status.usable, status.count_files, status.close_at) == (
        DatasetState.OPEN,
        False,
        4,
        9,
    )
    gaps = "with numbers from 1 to 7, of which no file has 3, 5 to 6"
    assert status.waits_for == f"5 more files: 4 of 9 are registered, {gaps}"
    with pytest.raises(
        Conflict,
        match="is complete with 3 files and would have 4: if that number is wrong, close it with",
    ):
        await dms.client.close_dataset(uid, files=3)
    assert (await dms.client.close_dataset(uid, files=5)).state is DatasetState.OPEN
    assert (
        await dms.client.dataset_status(uid)
    ).waits_for == f"1 more file: 4 of 5 are registered, {gaps}"
    assert (await dms.client.close_dataset(uid, files=4)).state is DatasetState.CLOSED
    status = await dms.client.dataset_status(uid)
    assert (status.usable, status.waits_for) == (True, None)
    assert status.registered_at < (status.closed_at or status.registered_at)
    with pytest.raises(NotFound):
        await dms.client.dataset_status(uuid4())


async def test_a_number_corrected_while_files_come_closes_it_once(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    await dms.client.close_dataset(uid, files=30)
    files = [dms.write("frames", seq) for seq in range(20)]
    corrections = [dms.client.close_dataset(uid, files=20) for _ in range(3)]
    await asyncio.gather(*(dms.client.register_files(uid, [file]) for file in files), *corrections)
    await close_complete(dms.database)
    assert (await dms.client.dataset(uid)).state is DatasetState.CLOSED
    assert len(await dms.fetch("SELECT 1 FROM outbox")) == 1


async def test_an_output_is_deleted_only_when_forced(dms: Dms) -> None:
    uid = await dms.dataset("result", DatasetType.OUTPUT)
    with pytest.raises(Conflict, match="force=true"):
        await dms.client.delete_dataset(uid)
    assert (await dms.client.delete_dataset(uid, force=True)).state is DatasetState.DELETING
    logs = await dms.dataset("logs", DatasetType.LOGS)
    answer = await dms.http.delete(f"/api/v1/datasets/{logs}")
    assert (answer.status_code, answer.json()["state"]) == (202, "deleting")
    with pytest.raises(NotFound):
        await dms.client.delete_dataset(uuid4())


async def test_the_list_without_state_holds_what_can_be_worked_with_in_order_of_closing(
    dms: Dms,
) -> None:
    uids = [await dms.dataset(f"d{number}") for number in range(4)]
    for uid in (uids[2], uids[0], uids[3]):
        await dms.client.close_dataset(uid)
    await dms.client.delete_dataset(uids[0])
    page = await dms.client.closed_datasets(type=DatasetType.INTERMEDIATE)
    assert [dataset.uid for dataset in page.datasets] == [uids[2], uids[3]]
    later = await dms.client.closed_datasets(after=page.cursor)
    assert (later.datasets, later.cursor) == ([], page.cursor)
    assert page.datasets[0].closed_at is not None
    since = await dms.client.closed_datasets(timestamp=page.datasets[0].closed_at)
    assert [dataset.uid for dataset in since.datasets] == [uids[3]]
    assert (await dms.client.closed_datasets(type=DatasetType.INPUT)).datasets == []


async def test_the_list_with_states_is_in_order_of_registration_with_a_cursor_of_its_own(
    dms: Dms,
) -> None:
    uids = [await dms.dataset(f"d{number}") for number in range(3)]
    await dms.client.close_dataset(uids[1])
    everything = await dms.client.datasets(limit=2)
    assert [dataset.uid for dataset in everything.datasets] == uids[:2]
    rest = await dms.client.datasets(after=everything.cursor)
    assert [dataset.uid for dataset in rest.datasets] == uids[2:]
    opened = await dms.client.datasets([DatasetState.OPEN])
    assert [dataset.uid for dataset in opened.datasets] == [uids[0], uids[2]]
    for wrong in (everything.cursor, "c", "c-1", "cx", "9"):
        with pytest.raises(Unprocessable, match="is no cursor of this list"):
            await dms.client.closed_datasets(after=wrong)
    with pytest.raises(Unprocessable, match="is no cursor of this list"):
        await dms.client.files(uids[0], after="no place")


async def test_the_newest_come_first_where_somebody_wants_them_so(dms: Dms) -> None:
    uids = [await dms.dataset(f"d{number}") for number in range(5)]
    await dms.client.close_dataset(uids[3])
    seen, cursor = [], None
    while (page := await dms.client.datasets(limit=2, newest=True, after=cursor)).datasets:
        seen += [dataset.uid for dataset in page.datasets]
        cursor = page.cursor
    assert seen == uids[::-1]
    opened = await dms.client.datasets([DatasetState.OPEN], newest=True)
    assert [dataset.uid for dataset in opened.datasets] == [uids[4], uids[2], uids[1], uids[0]]
    with pytest.raises(Unprocessable, match="is no cursor of this list"):
        await dms.client.datasets(after=cursor)


async def test_storages_come_with_the_most_free_space_first_and_those_out_of_use_not_at_all(
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
    assert [storage.name for storage in await dms.client.storages(StorageType.LOGS)] == [
        "logs-1",
        "large",
        "middle",
        "small",
    ]
    await dms.fetch("UPDATE storages SET enabled = false WHERE name = 'large'")
    assert [storage.name for storage in await dms.client.storages(StorageType.LOGS)] == [
        "logs-1",
        "middle",
        "small",
    ]
    assert len(await dms.client.storages()) == 6


async def test_a_storage_that_differs_or_is_a_whole_file_system_is_refused(
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
        with pytest.raises(Unprocessable, match="is no plain folder below the root"):
            await dms.client.register_storage(
                NewStorage(name="whole", type=StorageType.LOGS, url=whole)
            )


async def test_periods_runs_and_frames_are_registered_once_counted_and_read(dms: Dms) -> None:
    period = NewPeriod(name="2026", goal="first beams")
    assert await dms.client.register_period(period) == await dms.client.register_period(period)
    run = NewRun(number=7, period="2026", conditions={"field": 1.0})
    assert await dms.client.register_run(run) == await dms.client.register_run(run)
    frames = [NewFrame(number=number, meta={"n": number}) for number in range(5)]
    first, again = (
        await dms.client.register_frames(7, frames),
        await dms.client.register_frames(7, frames),
    )
    assert (first.new, again.new, again.known) == (5, 0, 5)
    assert [found.runs for found in await dms.client.periods()] == [1]
    assert [(found.number, found.frames) for found in await dms.client.runs(period="2026")] == [
        (7, 5)
    ]
    assert [frame.number for frame in await dms.client.frames(7, after=1, limit=2)] == [2, 3]


async def test_periods_runs_and_frames_that_differ_or_hang_in_the_air_are_refused(dms: Dms) -> None:
    await dms.client.register_period(NewPeriod(name="2026"))
    await dms.client.register_run(NewRun(number=7, period="2026"))
    await dms.client.register_frames(7, [NewFrame(number=1)])
    with pytest.raises(Conflict, match="period '2026' is registered already, differently: goal"):
        await dms.client.register_period(NewPeriod(name="2026", goal="other"))
    with pytest.raises(Conflict, match="run 7 is registered already, differently: conditions"):
        await dms.client.register_run(NewRun(number=7, period="2026", conditions={"field": 2}))
    with pytest.raises(Conflict, match="frame 1 of run 7 is registered already, differently: meta"):
        await dms.client.register_frames(7, [NewFrame(number=2), NewFrame(number=1, meta={"n": 1})])
    assert len(await dms.client.frames(7)) == 1, "all or nothing"
    with pytest.raises(Unprocessable, match="period '2027' is not registered"):
        await dms.client.register_run(NewRun(number=8, period="2027"))
    with pytest.raises(Unprocessable, match="frames of run 7"):
        await dms.client.register_frames(7, [NewFrame(number=3, file_id=12345)])
    for answer in (
        dms.client.register_frames(9, []),
        dms.client.frames(9),
        dms.client.runs(period="2027"),
    ):
        with pytest.raises(NotFound):
            await answer


async def test_values_that_no_database_holds_are_refused(dms: Dms) -> None:
    with pytest.raises(Unprocessable, match="cannot be stored"):
        await dms.client.register_dataset(NewDataset(name="nul", meta={"text": "a\x00b"}))
    await dms.client.register_period(NewPeriod(name="2026"))
    with pytest.raises(Unprocessable, match="cannot be stored"):
        await dms.client.register_run(NewRun(number=1 << 63, period="2026"))


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ('{"name": "week/1"}', "body.name: 'week/1' has '/': a name has letters (A to Z, a to z), digits, blanks and"),
        (f'{{"name": "d", "meta": {{"x": "{"y" * 70_000}"}}}}', "body.meta: metadata may have 65536 bytes as JSON, and"),
        (f'{{"name": "d", "meta": {{"x": {"[" * 40}1{"]" * 40}}}}}', "body.meta: metadata may nest objects and lists 32 deep"),
        ('{"name": "d", "url": "data"}', "body.url: 'data' is not an absolute URL such as file:///data/input"),
    ],
    ids=["name", "large", "deep", "url"],
)  # fmt: skip
async def test_what_is_wrong_with_a_value_is_said_in_words(
    dms: Dms, body: str, sentence: str
) -> None:
    answer = await dms.http.post(
        "/api/v1/datasets", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(sentence)
    assert await dms.client.dataset_named("d") is None


async def test_a_body_that_nests_without_end_is_refused(dms: Dms) -> None:
    body = '{"name": "d", "meta": ' + '{"x":' * 100_000 + "1" + "}" * 100_001
    answer = await dms.http.post(
        "/api/v1/datasets", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code in {400, 422}
