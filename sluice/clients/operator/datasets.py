"""Calls to the operator service about data sets, files and storages."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from uuid import UUID

import httpx

from sluice.clients.base import API
from sluice.clients.paging import MAX_FILES, iterate_files, read_existing_datasets
from sluice.clients.unmatched_calls import SharedUnmatchedCalls
from sluice.contracts.access.owners import Share
from sluice.contracts.chains.intake import (
    UnmatchedList,
)
from sluice.contracts.data.append_only_list import AppendOnlyDataset, AppendOnlyList
from sluice.contracts.data.datasets import (
    CloseDataset,
    Dataset,
    DatasetPage,
    DatasetStatus,
    File,
    FilePage,
    NewDataset,
    NewFiles,
    NewStorage,
    RegistrationCounts,
    Storage,
)


class DatasetCalls(SharedUnmatchedCalls):
    """Calls about data sets and their files, unmatched data sets, and storages."""

    async def register_dataset(self, dataset: NewDataset) -> Dataset:
        """Register a data set, or return the one that the same request has registered."""
        return await self.call("POST", f"{API}/datasets", body=dataset, answer=Dataset)

    async def list_datasets(
        self, *, after: str | None = None, limit: int | None = None, **filters: object
    ) -> DatasetPage:
        """Return a page of data sets. The DMS has the same filters (``type``, ``state`` …)."""
        return await self.call(
            "GET",
            f"{API}/datasets",
            answer=DatasetPage,
            params={**filters, "after": after, "limit": limit},
        )

    async def list_datasets_by_uid(self, uids: Sequence[UUID]) -> list[Dataset]:
        """Return the existing data sets of ``uids``."""
        return await read_existing_datasets(lambda part: self.list_datasets(uid=part), uids)

    async def share_dataset(self, uid: UUID, share: Share) -> Dataset:
        """Share a data set with groups.

        Raises:
            NotFound: There is no such data set.
            Forbidden: It belongs to another group.
        """
        path = f"{API}/datasets/{uid}/share"
        return await self.call("PUT", path, body=share, answer=Dataset)

    async def get_dataset(self, uid: UUID) -> Dataset:
        """Return a data set with the number of its released files."""
        return await self.call(
            "GET", f"{API}/datasets/{uid}", answer=Dataset, params={"released": True}
        )

    async def get_dataset_status(self, uid: UUID) -> DatasetStatus:
        """Return what a data set waits for.

        Raises:
            NotFound: There is no such data set.
        """
        return await self.call("GET", f"{API}/datasets/{uid}/status", answer=DatasetStatus)

    async def list_append_only_datasets(
        self, *, uid: UUID | None = None
    ) -> list[AppendOnlyDataset]:
        """Return the append-only data sets, or only the one with ``uid``."""
        path, params = f"{API}/append-only", {"uid": uid}
        return (await self.call("GET", path, params=params, answer=AppendOnlyList)).datasets

    async def register_files(self, dataset: UUID, files: NewFiles) -> RegistrationCounts:
        """Register files of a data set."""
        return await self.call(
            "POST", f"{API}/datasets/{dataset}/files", body=files, answer=RegistrationCounts
        )

    async def list_files(
        self, dataset: UUID, *, after: str | None = None, limit: int | None = None
    ) -> FilePage:
        """Return a page of files."""
        params = {"after": after, "limit": limit}
        return await self.call(
            "GET", f"{API}/datasets/{dataset}/files", answer=FilePage, params=params
        )

    async def iterate_files(self, dataset: UUID) -> AsyncIterator[File]:
        """Yield all files in order.

        Raises:
            NotFound: There is no such data set.
        """
        async for file in iterate_files(
            lambda after: self.list_files(dataset, after=after, limit=MAX_FILES)
        ):
            yield file

    def stream_content(
        self, file: File, *, start: int = 0
    ) -> AbstractAsyncContextManager[httpx.Response]:
        """Stream the content of a file from byte ``start`` on.

        If another file has taken its place, all of that file is sent. httpx's ``TransportError`` is
        raised if the response breaks off.

        Raises:
            NotFound: There is no such file.
            NotAvailable: The storage does not answer.
        """
        headers = {"Range": f"bytes={start}-", "If-Range": f'"{file.checksum}"'} if start else {}
        return self.stream(
            f"{API}/datasets/{file.dataset_uid}/files/{file.id}/content", headers=headers
        )

    async def close_dataset(self, uid: UUID, *, files: int | None = None) -> Dataset:
        """Close a data set; with ``files``, when that many files are registered."""
        return await self.call(
            "POST", f"{API}/datasets/{uid}/close", body=CloseDataset(files=files), answer=Dataset
        )

    async def list_unmatched(
        self, *, template: str | None = None, limit: int | None = None
    ) -> UnmatchedList:
        """Return unmatched data sets, newest first.

        With ``template``, only those that this template would take now.
        """
        return await self.call(
            "GET",
            f"{API}/unmatched",
            answer=UnmatchedList,
            params={"template": template, "limit": limit},
        )

    async def register_storage(self, storage: NewStorage) -> Storage:
        """Register a storage."""
        return await self.call("POST", f"{API}/storages", body=storage, answer=Storage)
