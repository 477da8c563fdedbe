"""A fake DMS for tests of the operator service."""

from typing import Annotated
from uuid import UUID, uuid4

from fastapi import APIRouter, Query

from sluice.contracts.common.labels import label
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import (
    DatasetState,
    DatasetType,
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
from tests.integration.operator.fakes.rows import CLOCK, Rows


def dataset_routers(rows: Rows) -> list[APIRouter]:
    return [_filling_routes(rows), _reading_routes(rows), _watching_routes(rows), _run_routes(rows)]


def _filling_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.post("/datasets", status_code=201)
    async def register(new: NewDataset) -> Dataset:
        for existing_dataset in rows.datasets.values():
            if existing_dataset.name == new.name:
                return existing_dataset
        dataset = Dataset(
            uid=uuid4(),
            state=DatasetState.OPEN,
            count_files=0,
            bytes=0,
            timestamp=CLOCK.now(),
            **new.model_dump(exclude_none=True),
        )
        rows.datasets[dataset.uid] = dataset
        return dataset

    @router.post("/datasets/{uid}/close")
    async def close(uid: UUID, request: CloseDataset) -> Dataset:
        rows.closings.append((uid, request.files))
        return rows.dataset(uid)

    return router


def _reading_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.get("/datasets")
    async def datasets(
        *,
        type: DatasetType | None = None,
        state: Annotated[list[DatasetState] | None, Query()] = None,
        name: str | None = None,
        newest: bool = False,
        after: str | None = None,
        limit: int = 1000,
    ) -> DatasetPage:
        datasets_found = sorted(
            rows.datasets.values(), key=lambda dataset: dataset.timestamp, reverse=newest
        )
        datasets_found = [
            dataset
            for dataset in datasets_found
            if type in {None, dataset.type} and dataset.state in (state or DatasetState)
        ]
        registered = [dataset for dataset in datasets_found if dataset.name == name]
        datasets_found = (
            datasets_found
            if name is None
            else registered or [dataset for dataset in datasets_found if label(dataset) == name]
        )
        first = int(after or 0)
        return DatasetPage(datasets=datasets_found[first : first + limit], after=str(first + limit))

    @router.get("/datasets/{uid}")
    async def dataset(uid: UUID) -> Dataset:
        return rows.dataset(uid)

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
            close_at=None,
            waits_for=rows.waits_for.get(uid),
        )

    @router.get("/datasets/{uid}/files")
    async def files(uid: UUID) -> FilePage:
        return FilePage(files=rows.files.get(uid, []), after=None)

    return router


def _watching_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.get("/append-only")
    async def append_only(uid: UUID | None = None) -> AppendOnlyList:
        return AppendOnlyList(
            datasets=[one for one in rows.append_only if uid in {None, one.dataset.uid}]
        )

    @router.get("/stalled")
    async def stalled(limit: int) -> StalledList:
        if rows.stalled is None:
            raise NotFound("Not Found")
        return StalledList(
            stalled=rows.stalled[:limit],
            more=sum(stalled.number for stalled in rows.stalled[limit:]),
        )

    @router.get("/storages")
    async def storages(measured: bool = False) -> list[Storage]:
        return [
            storage.model_copy(update={} if measured else {"free": None, "datasets": None})
            for storage in rows.storages
        ]

    return router


def _run_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.get("/periods")
    async def periods() -> list[Period]:
        return rows.periods

    @router.get("/runs")
    async def runs() -> list[Run]:
        return rows.runs

    @router.get("/runs/{number}")
    async def run(number: int) -> Run:
        for each_run in rows.runs:
            if each_run.number == number:
                return each_run
        raise NotFound(f"run {number} is not registered")

    @router.get("/runs/{number}/frames")
    async def frames(number: int, after: int, limit: int) -> list[Frame]:
        frames_found = [
            frame for frame in rows.frames if frame.run == number and frame.number > after
        ]
        return frames_found[:limit]

    return router
