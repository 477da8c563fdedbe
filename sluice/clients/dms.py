"""Client of the DMS: data sets, files, storages, periods, runs, frames."""

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from urllib.parse import quote
from uuid import UUID

import httpx
from pydantic import RootModel

from sluice.clients.base import API
from sluice.clients.dms_pieces import PieceCalls
from sluice.clients.paging import MOST_FILES, each_file, each_known
from sluice.clients.quotas import QuotaCalls
from sluice.contracts.claimed_files import ClaimedFile, FoundFaults, LookAtFiles
from sluice.contracts.datasets import (
    CloseDataset,
    Dataset,
    DatasetPage,
    DatasetStatus,
    DatasetUids,
    EndTime,
    File,
    FilePage,
    Frame,
    NewDataset,
    NewFile,
    NewFiles,
    NewFrame,
    NewFrames,
    NewPeriod,
    NewRun,
    NewStorage,
    Period,
    Registered,
    Run,
    StalledList,
    Storage,
    WaterMarks,
)
from sluice.contracts.owners import Share
from sluice.contracts.problems import ServiceError, Unprocessable
from sluice.contracts.room import RoomNeeded, StorageRoom
from sluice.contracts.standing import Collected, CollectFiles, CutAnswer, CutSlice
from sluice.contracts.standing_list import Standing, StandingList
from sluice.contracts.states import DatasetState, DatasetType, StorageType

#: Most files (frames) that one request carries, and one page.
MOST = MOST_FILES


class _Storages(RootModel[list[Storage]]): ...


class _Periods(RootModel[list[Period]]): ...


class _Runs(RootModel[list[Run]]): ...


class _Frames(RootModel[list[Frame]]): ...


class DmsClient(PieceCalls, QuotaCalls):
    service = "dms"

    async def share_dataset(self, uid: UUID, share: Share) -> Dataset:
        """Raises ``NotFound``; ``Forbidden`` where it is another group's."""
        return await self.call("PUT", f"{API}/datasets/{uid}/share", body=share, answer=Dataset)

    async def register_dataset(self, new: NewDataset) -> Dataset:
        """The first where the name is known and the request is the same; else raises ``Conflict``
        (field ``dataset``: its uid). Raises ``Unprocessable`` for an unknown period or run, or a
        folder outside the storages.
        """
        return await self.call("POST", f"{API}/datasets", body=new, answer=Dataset)

    async def make_dataset(self, new: NewDataset) -> tuple[Dataset, bool]:
        """As ``register_dataset``, with whether it is new."""
        return await self.create(f"{API}/datasets", body=new, answer=Dataset)

    async def dataset(self, uid: UUID) -> Dataset:
        """Return the data set, with all that is told where it is asked for. Raises ``NotFound``."""
        asked = {"released": True, "copied": True}
        return await self.call("GET", f"{API}/datasets/{uid}", answer=Dataset, params=asked)

    async def dataset_status(self, uid: UUID) -> DatasetStatus:
        """What it waits for. Raises ``NotFound`` (also where a release before this one answers)."""
        return await self.call("GET", f"{API}/datasets/{uid}/status", answer=DatasetStatus)

    async def stalled(self, *, limit: int = 100) -> StalledList:
        """Uploads and deletions that do not go on. Raises ``NotFound`` where a release before this
        one answers.
        """
        return await self.call("GET", f"{API}/stalled", answer=StalledList, params={"limit": limit})

    async def datasets_of(self, uids: Sequence[UUID]) -> list[Dataset]:
        """Those of ``uids`` that the DMS knows, in requests of 100 (they travel in the query
        string).
        """
        return await self._datasets_of(uids, {})

    async def uploads_of(self, uids: Sequence[UUID]) -> list[Dataset]:
        """Return the data sets, with why an upload cannot succeed.

        A DMS of the release before does not say that, and refuses the question.
        """
        try:
            return await self._datasets_of(uids, {"lost": True})
        except Unprocessable:
            return await self._datasets_of(uids, {})

    async def _datasets_of(self, uids: Sequence[UUID], told: dict[str, bool]) -> list[Dataset]:
        path = f"{API}/datasets"
        return await each_known(
            lambda asked: self.call("GET", path, answer=DatasetPage, params={"uid": asked, **told}),
            uids,
        )

    async def look_at_files(
        self, files: Sequence[ClaimedFile], *, content: bool
    ) -> list[str | None]:
        """What is wrong with each; None: nothing. At most 10 000. Raises ``NotAvailable``."""
        asked = LookAtFiles(files=list(files), content=content)
        path = f"{API}/files/look"
        return (await self.call("POST", path, body=asked, answer=FoundFaults, retry=False)).faults

    async def dataset_named(self, name: str) -> Dataset | None:
        """The one that is registered under exactly this name."""
        called = await self.datasets_called(name)
        return next((dataset for dataset in called if dataset.name == name), None)

    async def datasets_called(self, name: str) -> list[Dataset]:
        """The one that is registered under the name; where none is, outputs of chains that people
        call so (a release before this one does not find these).
        """
        return (
            await self.call("GET", f"{API}/datasets", answer=DatasetPage, params={"name": name})
        ).datasets

    async def closed_datasets(
        self,
        *,
        after: str | None = None,
        type: DatasetType | None = None,
        timestamp: datetime | None = None,
        limit: int | None = None,
    ) -> DatasetPage:
        """Data sets that can be worked with, in order of closing; ``cursor`` goes into the next
        call's ``after``.
        """
        params = {"after": after, "type": type, "timestamp": _text(timestamp), "limit": limit}
        return await self.call("GET", f"{API}/datasets", answer=DatasetPage, params=params)

    async def datasets(
        self,
        states: Iterable[DatasetState] = tuple(DatasetState),
        *,
        name: str | None = None,
        after: str | None = None,
        type: DatasetType | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> DatasetPage:
        """Data sets in these states (any), in order of registration, or the newest first. ``name``:
        as ``datasets_called``.
        """
        params = {
            "state": list(states), "name": name, "after": after, "type": type, "limit": limit,
            "newest": newest or None
        }  # fmt: skip
        return await self.call("GET", f"{API}/datasets", answer=DatasetPage, params=params)

    async def register_files(self, uid: UUID, files: Sequence[NewFile]) -> Registered:
        """Any number of files, in requests of 10 000; after an error, sending all again is fine.

        Raises ``NotFound``; ``Conflict`` for a closed data set or a name registered differently;
        ``Unprocessable`` for a URL outside the storages.
        """
        new = known = 0
        for start in range(0, len(files), MOST):
            request = NewFiles(files=list(files[start : start + MOST]))
            answer = await self.call(
                "POST", f"{API}/datasets/{uid}/files", body=request, answer=Registered
            )
            new, known = new + answer.new, known + answer.known
        return Registered(new=new, known=known)

    async def files(
        self, uid: UUID, *, after: str | None = None, limit: int = MOST, released: bool = False
    ) -> FilePage:
        """One page, in order of seq, then name. ``released``: with those that are. Raises
        ``NotFound``.
        """
        return await self.call(
            "GET",
            f"{API}/datasets/{uid}/files",
            answer=FilePage,
            params={"after": after, "limit": limit, "released": released or None},
        )

    async def all_files(self, uid: UUID, *, page: int = MOST) -> AsyncIterator[File]:
        """All files in order, read page by page. Raises ``NotFound``."""
        async for file in each_file(lambda after: self.files(uid, after=after, limit=page)):
            yield file

    async def file(self, uid: UUID, file: int) -> File:
        """Raises ``NotFound``."""
        return await self.call("GET", f"{API}/datasets/{uid}/files/{file}", answer=File)

    async def part(self, uid: UUID, file: int, *, start: int = 0, length: int) -> bytes:
        """Of what is in a file that is not empty. Raises ``NotFound``, ``NotAvailable``."""
        path, span = (
            f"{API}/datasets/{uid}/files/{file}/content",
            f"bytes={start}-{start + length - 1}",
        )
        return (
            await self._send(self._http.build_request("GET", path, headers={"Range": span}))
        ).content

    async def log_part(self, url: str, *, span: str) -> tuple[bytes, int]:
        """Of the log at ``url``: the bytes that ``span`` names as a ``Range`` does (``0-99``,
        ``100-``, ``-100``), and how many it has. Raises ``NotFound`` (it was deleted),
        ``Unprocessable`` (it is on no storage for logs), ``NotAvailable``.
        """
        request = self._http.build_request(
            "GET", f"{API}/logs", params={"url": url}, headers={"Range": f"bytes={span}"}
        )
        try:
            answer = await self._send(request)
        except ServiceError as error:
            if (
                error.status == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE
            ):  # there is nothing behind its begin
                return b"", 0
            raise
        total = answer.headers.get("Content-Range", "").rpartition("/")[2]
        return answer.content, int(total) if total else len(answer.content)

    async def close_dataset(self, uid: UUID, *, files: int | None = None) -> Dataset:
        """With ``files``: closes when so many are registered; another number corrects it until
        then. Closing twice is fine. Raises ``NotFound``, ``Conflict``; ``Unprocessable`` for an
        input without files.
        """
        return await self.call(
            "POST", f"{API}/datasets/{uid}/close", body=CloseDataset(files=files), answer=Dataset
        )

    async def delete_dataset(
        self, uid: UUID, *, force: bool = False, taken_back: bool = False
    ) -> Dataset:
        """Raises ``NotFound``; ``Conflict`` for an output unless ``force``, and for a version of an
        asset unless it is ``taken_back``.
        """
        params = {"force": force, "taken_back": taken_back or None}
        return await self.call("DELETE", f"{API}/datasets/{uid}", answer=Dataset, params=params)

    async def resume_dataset(self, uid: UUID) -> Dataset:
        """Tries an upload or a deletion again that was halted. Raises ``NotFound``."""
        return await self.call("POST", f"{API}/datasets/{uid}/resume", answer=Dataset)

    async def collect(
        self, uid: UUID, asked: CollectFiles, *, made_of: UUID | None = None
    ) -> Collected:
        """Once, however often it is asked for. ``made_of``: the input of the chain that wrote the
        files; a query, which a release before this one passes over. Raises ``NotFound``;
        ``Conflict`` where its files are gone, or the standing data set is of another type.
        """
        path = f"{API}/datasets/{uid}/collect"
        return await self.call(
            "POST", path, body=asked, params={"made_of": made_of}, answer=Collected
        )

    async def standing(
        self, *, uid: UUID | None = None, generations: bool = False
    ) -> list[Standing]:
        """Data sets that grow; ``uid``: this one alone. ``generations``: with these (a release
        before this one has none). Raises ``NotFound`` where a release before that answers.
        """
        path, params = f"{API}/standing", {"uid": uid, "generations": generations or None}
        return (await self.call("GET", path, params=params, answer=StandingList)).standing

    async def cut_slice(self, uid: UUID, cut: CutSlice) -> UUID | None:
        """The slice's uid; None: nothing was cut. Raises ``NotFound``; ``Conflict`` where it does
        not grow any more.
        """
        path = f"{API}/datasets/{uid}/slices"
        return (await self.call("POST", path, body=cut, answer=CutAnswer)).dataset_uid

    async def register_storage(self, new: NewStorage) -> Storage:
        """Raises ``Conflict`` where its name or URL is registered differently, or it and another
        are not apart; ``Unprocessable`` where no storage may be, or the DMS cannot use it.
        """
        return await self.call("POST", f"{API}/storages", body=new, answer=Storage)

    async def storages(
        self, type: StorageType | None = None, *, everything: bool = False, measured: bool = False
    ) -> list[Storage]:
        """Those that get new data sets, the one with the most free space first; none is an empty
        list. ``everything``: all there are (a release before this one does not tell disabled ones).
        ``measured``: with what is free, and how many data sets lie on each (a release before this
        one tells neither).
        """
        params = {"type": type, "all": everything or None, "measured": measured or None}
        return (await self.call("GET", f"{API}/storages", answer=_Storages, params=params)).root

    async def disable_storage(self, name: str) -> Storage:
        """It gets no new data sets any more. Raises ``NotFound``."""
        return await self.call("POST", f"{API}/storages/{quote(name)}/disable", answer=Storage)

    async def mark_storage(self, name: str, marks: WaterMarks) -> Storage:
        """Sets its water marks. Raises ``NotFound``, ``Unprocessable`` where it cannot have
        these.
        """
        return await self.call(
            "PUT", f"{API}/storages/{quote(name)}/marks", body=marks, answer=Storage
        )

    async def unmark_storage(self, name: str) -> Storage:
        """It has no water marks from here on. Raises ``NotFound``."""
        return await self.call("DELETE", f"{API}/storages/{quote(name)}/marks", answer=Storage)

    async def need_room(self, name: str, needed: int | None) -> StorageRoom:
        """Say that jobs wait for room on a storage; None: none waits any more. Answers with what is
        free there now. Raises ``NotFound``.
        """
        return await self.call(
            "PUT",
            f"{API}/storages/{quote(name)}/needed",
            body=RoomNeeded(needed=needed),
            answer=StorageRoom,
        )

    async def on_storage(self, name: str, uids: Sequence[UUID]) -> list[UUID]:
        """Of the data sets those that lie there. Raises ``NotFound``."""
        found: list[UUID] = []
        for start in range(0, len(uids), 1000):
            asked = DatasetUids(uids=list(uids[start : start + 1000]))
            answer = await self.call(
                "POST", f"{API}/storages/{quote(name)}/datasets", body=asked, answer=DatasetUids
            )
            found += answer.uids
        return found

    async def enable_storage(self, name: str) -> Storage:
        """It gets new data sets again. Raises ``NotFound``, and as ``register_storage``."""
        return await self.call("POST", f"{API}/storages/{quote(name)}/enable", answer=Storage)

    async def register_period(self, new: NewPeriod) -> Period:
        """Raises ``Conflict`` where it is registered differently."""
        return await self.call("POST", f"{API}/periods", body=new, answer=Period)

    async def periods(self) -> list[Period]:
        return (await self.call("GET", f"{API}/periods", answer=_Periods)).root

    async def end_period(self, name: str, ended_at: datetime | None) -> Period:
        """Raises ``NotFound``; ``Unprocessable`` where it would end before it starts."""
        body = EndTime(ended_at=ended_at)
        return await self.call("PATCH", f"{API}/periods/{quote(name)}", body=body, answer=Period)

    async def end_run(self, number: int, ended_at: datetime | None) -> Run:
        """Raises ``NotFound``; ``Unprocessable`` where it would end before it starts."""
        body = EndTime(ended_at=ended_at)
        return await self.call("PATCH", f"{API}/runs/{number}", body=body, answer=Run)

    async def register_run(self, new: NewRun) -> Run:
        """Raises ``Conflict`` where it is registered differently, ``Unprocessable`` for an unknown
        period.
        """
        return await self.call("POST", f"{API}/runs", body=new, answer=Run)

    async def runs(self, *, period: str | None = None) -> list[Run]:
        return (await self.call("GET", f"{API}/runs", answer=_Runs, params={"period": period})).root

    async def run(self, number: int) -> Run:
        """Raises ``NotFound``."""
        return await self.call("GET", f"{API}/runs/{number}", answer=Run)

    async def register_frames(self, run: int, frames: Sequence[NewFrame]) -> Registered:
        """Raises ``NotFound`` for an unknown run, ``Conflict`` for a frame registered
        differently.
        """
        return await self.call(
            "POST",
            f"{API}/runs/{run}/frames",
            body=NewFrames(frames=list(frames)),
            answer=Registered,
        )

    async def frames(self, run: int, *, after: int = -1, limit: int = MOST) -> list[Frame]:
        """Frames with numbers above ``after``. Raises ``NotFound`` for an unknown run."""
        params = {"after": after, "limit": limit}
        return (
            await self.call("GET", f"{API}/runs/{run}/frames", answer=_Frames, params=params)
        ).root


def _text(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()
