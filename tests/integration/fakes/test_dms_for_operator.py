"""The operator tests' fake DMS has data sets as the real DMS."""

from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import DatasetState, DatasetType, StorageType
from sluice.contracts.data.datasets import Dataset, NewDataset, NewFile
from sluice.contracts.data.runs import NewFrame, NewPeriod, NewRun
from tests.integration.fakes.real_services import RealServices
from tests.integration.fakes.two_services import (
    CONFLICT,
    NOT_FOUND,
    REAL,
    UNPROCESSABLE,
    get_refusal,
    make_http_client,
)
from tests.integration.operator.fakes.neighbours import Neighbours
from tests.integration.wms.wms_fixture import CHECKSUM, NOW

pytestmark = pytest.mark.asyncio(loop_scope="module")

NAMES = (f"n{number}" for number in count())
OPEN, CLOSED = DatasetState.OPEN, DatasetState.CLOSED

#: Without states, only closed data sets are listed.
EVERY_STATE = tuple(DatasetState)


@dataclass
class Dms:
    """One of the two. All rows come from the real DMS; ``neighbours`` is the fake."""

    client: DmsClient
    services: RealServices
    neighbours: Neighbours | None

    async def dataset(self, *, files: int = 0, close: bool = False, **fields: Any) -> Dataset:
        """Register a data set with files in the real DMS, and give it to the fake."""
        real = self.services.dms
        uid = (await real.register_dataset(NewDataset(name=next(NAMES), **fields))).uid
        if files:
            await real.register_many_files(uid, [self._file(uid, seq) for seq in range(files)])
        if close:
            await real.close_dataset(uid)
        return await self.copy(uid)

    def _file(self, uid: UUID, seq: int) -> NewFile:
        url = f"file://{self.services.folder / StorageType.INPUT}/{uid}-{seq}"
        return NewFile(seq=seq, name=f"f{seq}", size=3, checksum=CHECKSUM, url=url)

    async def copy(self, uid: UUID) -> Dataset:
        dataset = await self.services.dms.get_dataset(uid)
        if self.neighbours is not None:
            self.neighbours.datasets[uid] = dataset
            self.neighbours.files[uid] = (await self.services.dms.list_files(uid)).files
        return dataset

    async def copy_runs(self) -> None:
        if self.neighbours is not None:
            real = self.services.dms
            self.neighbours.periods = await real.list_periods()
            self.neighbours.runs = await real.list_runs()
            for run in self.neighbours.runs:
                self.neighbours.frames += await real.list_frames(run.number)


@pytest_asyncio.fixture(loop_scope="module")
async def dms(kind: str, services: RealServices) -> Dms:
    async with services.catalogue.connection() as connection:
        await connection.execute("TRUNCATE datasets, files, periods CASCADE")
    if kind == REAL:
        return Dms(services.dms, services, None)
    neighbours = Neighbours()
    neighbours.storages = await services.dms.list_storages(measured=True)
    return Dms(DmsClient(make_http_client(neighbours.apps["dms"], "dms")), services, neighbours)


async def test_new_data_set_is_open_and_has_no_files(dms: Dms) -> None:
    new = NewDataset(name=next(NAMES), meta={"kind": "raw"})
    dataset, is_new = await dms.client.make_dataset(new)
    assert is_new
    assert (dataset.state, dataset.count_files, dataset.bytes) == (OPEN, 0, 0)
    assert (dataset.type, dataset.meta) == (DatasetType.INPUT, {"kind": "raw"})
    assert (await dms.client.get_dataset(dataset.uid)).name == new.name


async def test_name_is_registered_once(dms: Dms) -> None:
    new = NewDataset(name=next(NAMES), meta={"kind": "raw"})
    first, _ = await dms.client.make_dataset(new)
    again, is_new = await dms.client.make_dataset(new)
    assert (again.uid, is_new) == (first.uid, False)
    other = new.model_copy(update={"meta": {"kind": "cooked"}})
    assert await get_refusal(dms.client.register_dataset(other)) == CONFLICT


async def test_unknown_data_set_is_not_found(dms: Dms) -> None:
    unknown = uuid4()
    assert await get_refusal(dms.client.get_dataset(unknown)) == NOT_FOUND
    assert await get_refusal(dms.client.get_dataset_status(unknown)) == NOT_FOUND
    assert await get_refusal(dms.client.list_files(unknown)) == NOT_FOUND
    assert await get_refusal(dms.client.close_dataset(unknown)) == NOT_FOUND


async def test_data_sets_are_listed_in_order_of_registration_or_newest_first(dms: Dms) -> None:
    uids = [(await dms.dataset()).uid for _ in range(3)]
    oldest = await dms.client.list_datasets(state=EVERY_STATE)
    assert [dataset.uid for dataset in oldest.datasets] == uids
    newest = await dms.client.list_datasets(state=EVERY_STATE, newest=True)
    assert [dataset.uid for dataset in newest.datasets] == uids[::-1]


async def test_pages_end_with_an_empty_one_that_repeats_the_cursor(dms: Dms) -> None:
    uids = [(await dms.dataset()).uid for _ in range(3)]
    first = await dms.client.list_datasets(state=EVERY_STATE, newest=True, limit=2)
    second = await dms.client.list_datasets(
        state=EVERY_STATE, newest=True, limit=2, after=first.after
    )
    end = await dms.client.list_datasets(
        state=EVERY_STATE, newest=True, limit=2, after=second.after
    )
    listed = [[dataset.uid for dataset in page.datasets] for page in (first, second, end)]
    assert listed == [uids[:0:-1], uids[:1], []]
    assert second.after is not None
    assert end.after == second.after


async def test_list_without_data_sets_has_no_cursor(dms: Dms) -> None:
    assert (await dms.client.list_datasets(state=EVERY_STATE)).after is None


async def test_cursor_of_another_order_is_refused(dms: Dms) -> None:
    await dms.dataset()
    cursor = (await dms.client.list_datasets(state=EVERY_STATE)).after
    assert (
        await get_refusal(dms.client.list_datasets(state=EVERY_STATE, newest=True, after=cursor))
        == UNPROCESSABLE
    )


async def test_data_sets_are_filtered_by_state_and_type(dms: Dms) -> None:
    closed = await dms.dataset(files=1, close=True)
    log = await dms.dataset(type=DatasetType.LOGS)
    assert (await dms.client.list_datasets(state=[CLOSED])).datasets == [closed]
    [listed] = (await dms.client.list_datasets(state=EVERY_STATE, type=DatasetType.LOGS)).datasets
    assert listed.uid == log.uid
    assert (await dms.client.list_datasets(state=[CLOSED], type=DatasetType.LOGS)).datasets == []


async def test_list_of_closed_data_sets_leaves_out_open_ones(dms: Dms) -> None:
    await dms.dataset()
    closed = await dms.dataset(files=1, close=True)
    assert (await dms.client.list_closed_datasets()).datasets == [closed]


async def test_data_set_is_found_by_its_name(dms: Dms) -> None:
    dataset = await dms.dataset()
    await dms.dataset()
    assert await dms.client.list_datasets_by_name(dataset.name) == [dataset]
    assert await dms.client.list_datasets_by_name("nothing") == []


async def test_existing_data_sets_of_given_uids_are_listed(dms: Dms) -> None:
    dataset = await dms.dataset()
    await dms.dataset()
    assert await dms.client.list_datasets_by_uid([uuid4(), dataset.uid]) == [dataset]


async def test_lists_have_the_numbers_of_released_files_only_on_request(dms: Dms) -> None:
    dataset = await dms.dataset(files=2, copied=True)
    async with dms.services.catalogue.connection() as connection:
        await connection.execute("UPDATE datasets SET released = 1")
    await dms.copy(dataset.uid)
    shown = await dms.client.get_dataset(dataset.uid)
    assert (shown.released, shown.copied) == (1, True)
    listed = (await dms.client.list_datasets(state=EVERY_STATE)).datasets
    listed += await dms.client.list_datasets_by_uid([dataset.uid])
    assert [(one.released, one.copied) for one in listed] == [(0, False)] * 2
    [listed_dataset] = (await dms.client.list_datasets(state=EVERY_STATE, released=True)).datasets
    assert (listed_dataset.released, listed_dataset.copied) == (1, False)


async def test_data_set_can_be_closed(dms: Dms) -> None:
    dataset = await dms.dataset(files=2)
    closed = await dms.client.close_dataset(dataset.uid)
    assert closed.state is CLOSED
    assert closed.closed_at is not None
    assert await dms.client.close_dataset(dataset.uid) == closed


async def test_data_set_closes_when_it_has_the_given_number_of_files(dms: Dms) -> None:
    dataset = await dms.dataset(files=2)
    assert (await dms.client.close_dataset(dataset.uid, files=3)).state is OPEN
    status = await dms.client.get_dataset_status(dataset.uid)
    assert (status.state, status.usable, status.close_at) == (OPEN, False, 3)
    assert (status.count_files, status.closed_at) == (2, None)
    assert status.waits_for
    assert (await dms.client.close_dataset(dataset.uid, files=2)).state is CLOSED
    status = await dms.client.get_dataset_status(dataset.uid)
    assert (status.usable, status.waits_for) == (True, None)
    assert await get_refusal(dms.client.close_dataset(dataset.uid, files=3)) == CONFLICT


async def test_data_set_with_more_files_than_the_given_number_stays_open(dms: Dms) -> None:
    dataset = await dms.dataset(files=2)
    assert await get_refusal(dms.client.close_dataset(dataset.uid, files=1)) == CONFLICT
    assert (await dms.client.get_dataset(dataset.uid)).state is OPEN


async def test_input_without_files_cannot_be_closed_unless_it_is_on_demand(dms: Dms) -> None:
    dataset, placeholder = await dms.dataset(), await dms.dataset(on_demand=True)
    assert await get_refusal(dms.client.close_dataset(dataset.uid)) == UNPROCESSABLE
    assert await get_refusal(dms.client.close_dataset(placeholder.uid)) == UNPROCESSABLE
    for _ in range(2):
        assert (await dms.client.close_dataset(placeholder.uid, files=0)).state is CLOSED


async def test_files_are_listed_on_pages(dms: Dms) -> None:
    dataset = await dms.dataset(files=3)
    page = await dms.client.list_files(dataset.uid, limit=2)
    assert [file.seq for file in page.files] == [0, 1]
    last = await dms.client.list_files(dataset.uid, limit=2, after=page.after)
    assert [file.seq for file in last.files] == [2]
    assert last.after is None
    assert [file.seq async for file in dms.client.iterate_files(dataset.uid, page=1)] == [0, 1, 2]


async def test_only_measured_storages_have_free_space_and_data_sets(dms: Dms) -> None:
    plain = await dms.client.list_storages()
    measured = await dms.client.list_storages(measured=True)
    assert {storage.name for storage in plain} == {f"{kind}-1" for kind in StorageType}
    assert {(storage.free, storage.datasets) for storage in plain} == {(None, None)}
    assert {storage.datasets for storage in measured} == {0}


async def test_storages_are_filtered_by_type(dms: Dms) -> None:
    [storage] = await dms.client.list_storages(type=StorageType.LOGS)
    assert storage.name == "logs-1"


async def test_runs_are_filtered_by_period(dms: Dms) -> None:
    for name, numbers in (("a", (2, 1)), ("b", (3,))):
        await dms.services.dms.register_period(NewPeriod(name=name, started_at=NOW))
        for number in numbers:
            new = NewRun(number=number, period=name, started_at=NOW)
            await dms.services.dms.register_run(new)
    await dms.copy_runs()
    assert [period.name for period in await dms.client.list_periods()] == ["a", "b"]
    assert [run.number for run in await dms.client.list_runs()] == [1, 2, 3]
    assert [run.number for run in await dms.client.list_runs(period="a")] == [1, 2]
    assert (await dms.client.get_run(3)).period == "b"
    assert await get_refusal(dms.client.list_runs(period="c")) == NOT_FOUND


async def test_frames_of_a_run_follow_a_number(dms: Dms) -> None:
    await dms.services.dms.register_period(NewPeriod(name="a", started_at=NOW))
    for number in (1, 2):
        await dms.services.dms.register_run(NewRun(number=number, period="a", started_at=NOW))
    frames = [NewFrame(number=number) for number in range(3)]
    await dms.services.dms.register_frames(1, frames=frames)
    await dms.copy_runs()
    assert [frame.number for frame in await dms.client.list_frames(1)] == [0, 1, 2]
    assert [frame.number for frame in await dms.client.list_frames(1, after=0, limit=1)] == [1]
    assert await dms.client.list_frames(2) == []


async def test_unknown_run_is_not_found(dms: Dms) -> None:
    assert await get_refusal(dms.client.get_run(7)) == NOT_FOUND
    assert await get_refusal(dms.client.list_frames(7)) == NOT_FOUND


async def test_lists_of_append_only_data_sets_and_stalled_transfers_are_empty_at_first(
    dms: Dms,
) -> None:
    assert await dms.client.list_append_only_datasets() == []
    assert await dms.client.list_append_only_datasets(uid=uuid4()) == []
    stalled = await dms.client.list_stalled_transfers(limit=1)
    assert (stalled.stalled, stalled.more) == ([], 0)


async def test_log_is_read_in_parts(dms: Dms) -> None:
    path = dms.services.folder / StorageType.LOGS / "1.log"
    path.write_bytes(b"0123456789")
    url = f"file://{path}"
    assert await dms.client.read_log_part(url, span="2-4") == (b"234", 10)
    assert await dms.client.read_log_part(url, span="-3") == (b"789", 10)
    assert await dms.client.read_log_part(url, span="8-") == (b"89", 10)
    assert await dms.client.read_log_part(url, span="10-") == (b"", 0)


async def test_log_that_is_gone_or_elsewhere_is_refused(dms: Dms) -> None:
    gone = f"file://{dms.services.folder / StorageType.LOGS}/gone.log"
    assert await get_refusal(dms.client.read_log_part(gone, span="0-9")) == NOT_FOUND
    elsewhere = dms.services.folder / StorageType.INPUT / "1.log"
    elsewhere.write_bytes(b"secret")
    call = dms.client.read_log_part(f"file://{elsewhere}", span="0-9")
    assert await get_refusal(call) == UNPROCESSABLE
