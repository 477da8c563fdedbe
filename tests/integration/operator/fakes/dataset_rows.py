"""A fake DMS for tests of the operator service."""

from typing import Annotated
from uuid import UUID, uuid4

from fastapi import APIRouter, Query, Response

from dms.domain.completeness import UsedNumbers, describe_missing_files
from dms.domain.cursor import Order, parse_place, parse_position, write_place, write_position
from dms.domain.differences import require_same_request
from dms.domain.errors import CompletenessDiffers, EmptyDataset, TooManyFilesForDataset
from sluice.contracts.common.labels import label
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import (
    DatasetState,
    DatasetType,
    StorageType,
)
from sluice.contracts.data.append_only_list import AppendOnlyList
from sluice.contracts.data.datasets import (
    CloseDataset,
    Dataset,
    DatasetPage,
    DatasetStatus,
    FilePage,
    NewDataset,
    StalledList,
    Storage,
)
from sluice.contracts.data.runs import Frame, Period, Run
from sluice.text.visible_text import quoted
from tests.integration.operator.fakes.rows import CLOCK, Rows


def make_dataset_routers(rows: Rows) -> list[APIRouter]:
    return [
        _make_filling_routes(rows),
        _make_listing_routes(rows),
        _make_reading_routes(rows),
        _make_watching_routes(rows),
        _run_routes(rows),
    ]


def _make_filling_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.post("/datasets", status_code=201)
    async def register(new: NewDataset, response: Response) -> Dataset:
        request = new.model_dump(mode="json")
        for first in rows.datasets.values():
            if first.name == new.name:
                same = rows.registrations.get(first.uid, request)
                subject = f"data set {quoted(new.name)}"
                require_same_request(subject, same, request, dataset=first.uid)
                response.status_code = 200
                return first
        dataset = Dataset(
            uid=uuid4(),
            state=DatasetState.OPEN,
            count_files=0,
            bytes=0,
            timestamp=CLOCK.now(),
            **new.model_dump(exclude_none=True),
        )
        rows.datasets[dataset.uid] = dataset
        rows.registrations[dataset.uid] = request
        return dataset

    @router.post("/datasets/{uid}/close")
    async def close(uid: UUID, request: CloseDataset) -> Dataset:
        rows.closings.append((uid, request.files))
        return _close(rows, uid, request.files)

    return router


def _close(rows: Rows, uid: UUID, files: int | None) -> Dataset:
    dataset, close_at = rows.dataset(uid), rows.close_at.get(uid)
    count = dataset.count_files
    if dataset.state.readable:
        if files is not None and files != close_at:
            raise CompletenessDiffers(
                uid, dataset.name, registered_count=close_at or 0, requested_count=files
            )
        return dataset
    if dataset.state is not DatasetState.OPEN:
        raise Conflict(f"data set {quoted(dataset.name)} is {dataset.state}", state=dataset.state)
    may_be_empty = dataset.on_demand and files is not None
    if dataset.type is DatasetType.INPUT and not (files or count or may_be_empty):
        raise EmptyDataset(uid, dataset.name)
    if files is not None and count > files:
        raise TooManyFilesForDataset(uid, dataset.name, count=count, complete=files)
    rows.close_at[uid] = count if files is None else files
    if rows.close_at[uid] == count:
        closed = {"state": DatasetState.CLOSED, "closed_at": CLOCK.now()}
        rows.datasets[uid] = dataset.model_copy(update=closed)
    return rows.datasets[uid]


def _make_listing_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.get("/datasets")
    async def datasets(
        *,
        type: DatasetType | None = None,
        state: Annotated[list[DatasetState] | None, Query()] = None,
        name: str | None = None,
        uid: Annotated[list[UUID] | None, Query()] = None,
        newest: bool = False,
        released: bool = False,
        after: str | None = None,
        limit: int = 1000,
    ) -> DatasetPage:
        if uid is not None:
            return DatasetPage(
                datasets=[
                    _make_list_entry(one, released=released)
                    for one in rows.datasets.values()
                    if one.uid in uid
                ],
                after=None,
            )
        order = Order.REGISTRATION if state or name is not None else Order.CLOSING
        order = Order.NEWEST if newest else order
        first = parse_position(order, after)
        datasets_found = [
            dataset
            for dataset in _sort_datasets(rows, order)
            if type in {None, dataset.type}
            and dataset.state in (state or DatasetState)
            and (name is None or dataset in _list_by_name(rows, name))
        ]
        page = [
            _make_list_entry(one, released=released)
            for one in datasets_found[first : first + limit]
        ]
        last = write_position(order, first + len(page)) if page else after
        return DatasetPage(datasets=page, after=last)

    return router


def _make_reading_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.get("/datasets/{uid}")
    async def dataset(uid: UUID, *, released: bool = False, copied: bool = False) -> Dataset:
        dataset = rows.dataset(uid)
        details = {
            "released": dataset.released if released else 0,
            "copied": copied and dataset.copied,
        }
        return dataset.model_copy(update=details)

    @router.get("/datasets/{uid}/status")
    async def status(uid: UUID) -> DatasetStatus:
        dataset = rows.dataset(uid)
        return DatasetStatus(
            uid=uid,
            state=dataset.state,
            usable=dataset.usable,
            registered_at=dataset.timestamp,
            closed_at=dataset.closed_at,
            count_files=dataset.count_files,
            close_at=rows.close_at.get(uid),
            waits_for=rows.waits_for.get(uid) or _describe_missing_files(rows, dataset),
        )

    @router.get("/datasets/{uid}/files")
    async def files(uid: UUID, after: str | None = None, limit: int = 1000) -> FilePage:
        rows.dataset(uid)
        place = parse_place(after)
        page = [file for file in rows.files.get(uid, []) if (file.seq, file.name) > place][:limit]
        last = write_place(page[-1].seq, page[-1].name) if len(page) == limit else None
        return FilePage(files=page, after=last)

    return router


def _make_list_entry(dataset: Dataset, *, released: bool) -> Dataset:
    """Return a data set as lists have it."""
    details = {"released": dataset.released if released else 0, "copied": False}
    return dataset.model_copy(update=details)


def _sort_datasets(rows: Rows, order: Order) -> list[Dataset]:
    datasets = list(rows.datasets.values())
    if order is Order.CLOSING:
        readable = [dataset for dataset in datasets if dataset.state.readable]
        return sorted(readable, key=lambda dataset: dataset.closed_at or dataset.timestamp)
    return sorted(datasets, key=lambda dataset: dataset.timestamp, reverse=order is Order.NEWEST)


def _list_by_name(rows: Rows, name: str) -> list[Dataset]:
    """Return the data set that was registered under the name, or the outputs that it names."""
    registered = [dataset for dataset in rows.datasets.values() if dataset.name == name]
    return registered or [dataset for dataset in rows.datasets.values() if label(dataset) == name]


def _describe_missing_files(rows: Rows, dataset: Dataset) -> str | None:
    expected = rows.close_at.get(dataset.uid)
    if expected is None or dataset.count_files >= expected:
        return None
    return describe_missing_files(
        dataset.count_files, expected_count=expected, used_numbers=UsedNumbers()
    )


def _make_watching_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.get("/append-only")
    async def append_only(uid: UUID | None = None) -> AppendOnlyList:
        return AppendOnlyList(
            datasets=[one for one in rows.append_only if uid in {None, one.dataset.uid}]
        )

    @router.get("/stalled")
    async def stalled(limit: int = 100) -> StalledList:
        if rows.stalled is None:
            raise NotFound("Not Found")
        return StalledList(
            stalled=rows.stalled[:limit],
            more=sum(stalled.number for stalled in rows.stalled[limit:]),
        )

    @router.get("/storages")
    async def storages(type: StorageType | None = None, measured: bool = False) -> list[Storage]:
        return [
            storage.model_copy(update={} if measured else {"free": None, "datasets": None})
            for storage in rows.storages
            if type in {None, storage.type}
        ]

    return router


def _run_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.get("/periods")
    async def periods() -> list[Period]:
        return sorted(rows.periods, key=lambda period: period.name)

    @router.get("/runs")
    async def runs(period: str | None = None) -> list[Run]:
        if period is not None and period not in {one.name for one in rows.periods}:
            raise NotFound(f"period {quoted(period)} is not registered", period=period)
        runs_found = [each for each in rows.runs if period in {None, each.period}]
        return sorted(runs_found, key=lambda each: each.number)

    @router.get("/runs/{number}")
    async def run(number: int) -> Run:
        for each_run in rows.runs:
            if each_run.number == number:
                return each_run
        raise NotFound(f"run {number} is not registered", run=number)

    @router.get("/runs/{number}/frames")
    async def frames(number: int, after: int = -1, limit: int = 1000) -> list[Frame]:
        await run(number)
        frames_found = [
            frame for frame in rows.frames if frame.run == number and frame.number > after
        ]
        return sorted(frames_found, key=lambda frame: frame.number)[:limit]

    return router
