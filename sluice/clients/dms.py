"""Client of the DMS. Other modules of the package have the calls that are not about data sets."""

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from uuid import UUID

import httpx

from sluice.clients.base import API
from sluice.clients.dms_assets import AssetDatasetCalls
from sluice.clients.dms_pieces import PieceCalls
from sluice.clients.dms_runs import RunCalls
from sluice.clients.dms_storages import StorageCalls
from sluice.clients.paging import MAX_FILES, iterate_files, read_existing_datasets
from sluice.clients.quotas import QuotaCalls
from sluice.contracts.access.owners import Share
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.append_only import Collected, CollectFiles, CutAnswer, CutSlice
from sluice.contracts.data.append_only_list import AppendOnlyDataset, AppendOnlyList
from sluice.contracts.data.datasets import (
    CloseDataset,
    Dataset,
    DatasetPage,
    DatasetStatus,
    File,
    FilePage,
    NewDataset,
    NewFile,
    NewFiles,
    RegistrationCounts,
    StalledList,
)
from sluice.contracts.data.stated_files import CheckFiles, FileFaults, StatedFile


class DmsClient(StorageCalls, RunCalls, PieceCalls, AssetDatasetCalls, QuotaCalls):
    """Client of the DMS.

    Calls raise these errors:

    - ``NotFound``: The object does not exist, or the DMS is too old to know the call.
    - ``Conflict``: The object has other properties, or its state does not allow the call.
    - ``Forbidden``: The object belongs to another group.
    - ``Unprocessable``: The DMS refuses a value.
    - ``NotAvailable``: The DMS or a storage does not answer.
    """

    service = "dms"

    async def share_dataset(self, uid: UUID, share: Share) -> Dataset:
        """Share a data set of the caller's group with other groups."""
        return await self.call("PUT", f"{API}/datasets/{uid}/share", body=share, answer=Dataset)

    async def register_dataset(self, new: NewDataset) -> Dataset:
        """Register a data set, or return the one that the same request has registered.

        Raises:
            Conflict: The name is registered differently. The field ``dataset`` has its uid.
            Unprocessable: The period or run is unknown, or the folder is outside the storages.
        """
        return await self.call("POST", f"{API}/datasets", body=new, answer=Dataset)

    async def make_dataset(self, new: NewDataset) -> tuple[Dataset, bool]:
        """Register a data set as ``register_dataset``, and return whether it is new."""
        return await self.create(f"{API}/datasets", body=new, answer=Dataset)

    async def get_dataset(self, uid: UUID) -> Dataset:
        """Return a data set with all optional fields."""
        params = {"released": True, "copied": True}
        return await self.call("GET", f"{API}/datasets/{uid}", answer=Dataset, params=params)

    async def get_dataset_status(self, uid: UUID) -> DatasetStatus:
        """Return what a data set waits for."""
        return await self.call("GET", f"{API}/datasets/{uid}/status", answer=DatasetStatus)

    async def list_stalled_transfers(self, *, limit: int = 100) -> StalledList:
        """Return uploads and deletions that make no progress."""
        return await self.call("GET", f"{API}/stalled", answer=StalledList, params={"limit": limit})

    async def list_datasets_by_uid(self, uids: Sequence[UUID]) -> list[Dataset]:
        """Return the existing data sets of ``uids``, in requests of 100 uids."""
        return await self._list_datasets_by_uid(uids, {})

    async def list_uploads(self, uids: Sequence[UUID]) -> list[Dataset]:
        """Return data sets with the reasons why uploads cannot succeed."""
        return await self._list_datasets_by_uid(uids, {"lost": True})

    async def _list_datasets_by_uid(
        self, uids: Sequence[UUID], options: dict[str, bool]
    ) -> list[Dataset]:
        path = f"{API}/datasets"
        return await read_existing_datasets(
            lambda part: self.call(
                "GET", path, answer=DatasetPage, params={"uid": part, **options}
            ),
            uids,
        )

    async def check_stated_files(
        self, files: Sequence[StatedFile], *, content: bool
    ) -> list[str | None]:
        """Return for each of at most 10 000 files what is wrong with it, or None."""
        request = CheckFiles(files=list(files), content=content)
        path = f"{API}/files/look"
        return (await self.call("POST", path, body=request, answer=FileFaults, retry=False)).faults

    async def find_dataset_by_name(self, name: str) -> Dataset | None:
        """Return the data set with exactly this name, or None."""
        datasets = await self.list_datasets_by_name(name)
        return next((dataset for dataset in datasets if dataset.name == name), None)

    async def list_datasets_by_name(self, name: str) -> list[Dataset]:
        """Return the data set with this name, or the outputs that have it as their output name."""
        return (
            await self.call("GET", f"{API}/datasets", answer=DatasetPage, params={"name": name})
        ).datasets

    async def list_closed_datasets(
        self,
        *,
        after: str | None = None,
        type: DatasetType | None = None,
        timestamp: datetime | None = None,
        limit: int | None = None,
    ) -> DatasetPage:
        """Return a page of closed data sets in order of closing.

        The ``after`` of the page is the ``after`` of the next call.
        """
        params = {"after": after, "type": type, "timestamp": _text(timestamp), "limit": limit}
        return await self.call("GET", f"{API}/datasets", answer=DatasetPage, params=params)

    async def list_datasets(
        self,
        states: Iterable[DatasetState] = tuple(DatasetState),
        *,
        name: str | None = None,
        after: str | None = None,
        type: DatasetType | None = None,
        limit: int | None = None,
        newest: bool = False,
        released: bool = False,
    ) -> DatasetPage:
        """Return a page of data sets in the given states, in order of registration or newest first.

        ``name`` is as in ``list_datasets_by_name``. ``released`` includes the numbers of released
        files.
        """
        params = {
            "state": list(states), "name": name, "after": after, "type": type, "limit": limit,
            "newest": newest or None, "released": released or None
        }  # fmt: skip
        return await self.call("GET", f"{API}/datasets", answer=DatasetPage, params=params)

    async def register_files(self, uid: UUID, files: Sequence[NewFile]) -> RegistrationCounts:
        """Register any number of files, in requests of 10 000.

        After an error, all files can be sent again.
        """
        new_count = known_count = 0
        for start in range(0, len(files), MAX_FILES):
            request = NewFiles(files=list(files[start : start + MAX_FILES]))
            answer = await self.call(
                "POST", f"{API}/datasets/{uid}/files", body=request, answer=RegistrationCounts
            )
            new_count, known_count = new_count + answer.new, known_count + answer.known
        return RegistrationCounts(new=new_count, known=known_count)

    async def list_files(
        self, uid: UUID, *, after: str | None = None, limit: int = MAX_FILES, released: bool = False
    ) -> FilePage:
        """Return a page of files by seq, then name; with ``released``, also released ones."""
        return await self.call(
            "GET",
            f"{API}/datasets/{uid}/files",
            answer=FilePage,
            params={"after": after, "limit": limit, "released": released or None},
        )

    async def iterate_files(self, uid: UUID, *, page: int = MAX_FILES) -> AsyncIterator[File]:
        """Yield all files in order."""
        async for file in iterate_files(
            lambda after: self.list_files(uid, after=after, limit=page)
        ):
            yield file

    async def get_file(self, uid: UUID, file: int) -> File:
        """Return a file."""
        return await self.call("GET", f"{API}/datasets/{uid}/files/{file}", answer=File)

    async def read_part(self, uid: UUID, file: int, *, start: int = 0, length: int) -> bytes:
        """Return a part of the content of a file that is not empty."""
        path, span = (
            f"{API}/datasets/{uid}/files/{file}/content",
            f"bytes={start}-{start + length - 1}",
        )
        return (
            await self._send(self._http.build_request("GET", path, headers={"Range": span}))
        ).content

    async def read_log_part(self, url: str, *, span: str) -> tuple[bytes, int]:
        """Return a part of the log at ``url``, and the size of the log.

        ``span`` is as in a ``Range`` header (``0-99``, ``100-``, ``-100``).
        """
        request = self._http.build_request(
            "GET", f"{API}/logs", params={"url": url}, headers={"Range": f"bytes={span}"}
        )
        try:
            answer = await self._send(request)
        except ServiceError as error:
            # There is nothing at or after its begin.
            if error.status == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                return b"", 0
            raise
        total = answer.headers.get("Content-Range", "").rpartition("/")[2]
        return answer.content, int(total) if total else len(answer.content)

    async def close_dataset(self, uid: UUID, *, files: int | None = None) -> Dataset:
        """Close a data set. Repeating the call is safe.

        With ``files``, it closes when this number of files is registered. Until then, another call
        can correct the number.
        """
        return await self.call(
            "POST", f"{API}/datasets/{uid}/close", body=CloseDataset(files=files), answer=Dataset
        )

    async def delete_dataset(
        self, uid: UUID, *, force: bool = False, taken_back: bool = False
    ) -> Dataset:
        """Delete a data set. Outputs need ``force``, asset versions ``taken_back``."""
        params = {"force": force, "taken_back": taken_back or None}
        return await self.call("DELETE", f"{API}/datasets/{uid}", answer=Dataset, params=params)

    async def resume_dataset(self, uid: UUID) -> Dataset:
        """Retry a halted upload or deletion."""
        return await self.call("POST", f"{API}/datasets/{uid}/resume", answer=Dataset)

    async def collect(
        self, uid: UUID, request: CollectFiles, *, made_of: UUID | None = None
    ) -> Collected:
        """Add the files of a data set to an append-only data set, once for any number of calls.

        ``made_of`` is the input of the chain that wrote the files.
        """
        path = f"{API}/datasets/{uid}/collect"
        return await self.call(
            "POST", path, body=request, params={"made_of": made_of}, answer=Collected
        )

    async def list_append_only_datasets(
        self, *, uid: UUID | None = None, generations: bool = False
    ) -> list[AppendOnlyDataset]:
        """Return the append-only data sets, or only the one with ``uid``."""
        path, params = f"{API}/append-only", {"uid": uid, "generations": generations or None}
        return (await self.call("GET", path, params=params, answer=AppendOnlyList)).datasets

    async def cut_slice(self, uid: UUID, cut: CutSlice) -> UUID | None:
        """Cut a slice off an append-only data set. Return its uid, or None without new files."""
        path = f"{API}/datasets/{uid}/slices"
        return (await self.call("POST", path, body=cut, answer=CutAnswer)).dataset_uid


def _text(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()
