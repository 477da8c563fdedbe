"""What the operator service is asked about data sets, files and storages."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from uuid import UUID

import httpx

from sluice.clients.base import API, ServiceClient
from sluice.clients.paging import MOST_FILES, each_file, each_known
from sluice.contracts.datasets import (
    CloseDataset,
    Dataset,
    DatasetPage,
    DatasetStatus,
    File,
    FilePage,
    NewDataset,
    NewFiles,
    NewStorage,
    Registered,
    Storage,
)  # fmt: skip
from sluice.contracts.intake import (
    Dismissed,
    Rematch,
    Rematched,
    RematchedAll,
    TieList,
    UnmatchedList,
)
from sluice.contracts.owners import Share
from sluice.contracts.standing_list import Standing, StandingList


class DatasetCalls(ServiceClient):
    """Data sets and their files, those that fitted no template, and storages."""

    async def register_dataset(self, dataset: NewDataset) -> Dataset:
        """A repeated registration gives the first."""
        return await self.call("POST", f"{API}/datasets", body=dataset, answer=Dataset)

    async def datasets(
        self, *, after: str | None = None, limit: int | None = None, **filters: object
    ) -> DatasetPage:
        """``filters``: those of the DMS (``type``, ``state``, ``name`` …)."""
        return await self.call(
            "GET",
            f"{API}/datasets",
            answer=DatasetPage,
            params={**filters, "after": after, "limit": limit},
        )

    async def datasets_of(self, uids: Sequence[UUID]) -> list[Dataset]:
        """Those of ``uids`` that are known."""
        return await each_known(lambda asked: self.datasets(uid=asked), uids)

    async def share_dataset(self, uid: UUID, share: Share) -> Dataset:
        """Raises ``NotFound``; ``Forbidden`` where it is another group's."""
        path = f"{API}/datasets/{uid}/share"
        return await self.call("PUT", path, body=share, answer=Dataset)

    async def dataset(self, uid: UUID) -> Dataset:
        """With the number of its released files."""
        return await self.call(
            "GET", f"{API}/datasets/{uid}", answer=Dataset, params={"released": True}
        )

    async def dataset_status(self, uid: UUID) -> DatasetStatus:
        """What it waits for. Raises ``NotFound`` (also where a release before this one answers)."""
        return await self.call("GET", f"{API}/datasets/{uid}/status", answer=DatasetStatus)

    async def standing(self, *, uid: UUID | None = None) -> list[Standing]:
        """Data sets that grow; ``uid``: this one alone."""
        path, params = f"{API}/standing", {"uid": uid}
        return (await self.call("GET", path, params=params, answer=StandingList)).standing

    async def register_files(self, dataset: UUID, files: NewFiles) -> Registered:
        return await self.call(
            "POST", f"{API}/datasets/{dataset}/files", body=files, answer=Registered
        )

    async def files(
        self, dataset: UUID, *, after: str | None = None, limit: int | None = None
    ) -> FilePage:
        params = {"after": after, "limit": limit}
        return await self.call(
            "GET", f"{API}/datasets/{dataset}/files", answer=FilePage, params=params
        )

    async def all_files(self, dataset: UUID) -> AsyncIterator[File]:
        """In order, read page by page. Raises ``NotFound``."""
        async for file in each_file(
            lambda after: self.files(dataset, after=after, limit=MOST_FILES)
        ):
            yield file

    def content(self, file: File, *, start: int = 0) -> AbstractAsyncContextManager[httpx.Response]:
        """What is in the file, from byte ``start`` on, read while it comes; all of it where that is
        another file's by now. Raises ``NotFound``, ``NotAvailable``, httpx's ``TransportError``
        where it breaks off.
        """
        ranged = {"Range": f"bytes={start}-", "If-Range": f'"{file.checksum}"'} if start else {}
        return self.stream(
            f"{API}/datasets/{file.dataset_uid}/files/{file.id}/content", headers=ranged
        )

    async def close_dataset(self, uid: UUID, *, files: int | None = None) -> Dataset:
        return await self.call(
            "POST", f"{API}/datasets/{uid}/close", body=CloseDataset(files=files), answer=Dataset
        )

    async def delete_dataset(self, uid: UUID, *, force: bool = False) -> Dataset:
        """As it is now: deleting, or as before while chains that need it are canceled (``force``).
        Raises ``NotFound``; ``Conflict`` while chains need it, or for an output, unless ``force``.
        """
        return await self.call(
            "DELETE", f"{API}/datasets/{uid}", answer=Dataset, params={"force": force}
        )

    async def unmatched(
        self, *, template: str | None = None, limit: int | None = None
    ) -> UnmatchedList:
        """Data sets that fitted no template, newest first; ``template``: those that it would take
        now.
        """
        return await self.call(
            "GET",
            f"{API}/unmatched",
            answer=UnmatchedList,
            params={"template": template, "limit": limit},
        )

    async def dismiss_unmatched(self, dataset: UUID) -> None:
        """Raises ``NotFound`` where it is not among the unmatched."""
        await self.call("DELETE", f"{API}/unmatched/{dataset}")

    async def dismiss_all_unmatched(self, *, until: datetime) -> Dismissed:
        """Take all that were unmatched by then off the list."""
        return await self.call(
            "DELETE",
            f"{API}/unmatched",
            answer=Dismissed,
            params={"until": until.isoformat()},
            seconds=300,
        )

    async def rematch(self, dataset: UUID) -> Rematched:
        """Raises ``NotFound`` where it is not among the unmatched, ``Conflict`` where it was
        deleted.
        """
        return await self.call(
            "POST", f"{API}/rematch", body=Rematch(dataset_uid=dataset), answer=Rematched
        )

    async def rematch_all(self) -> RematchedAll:
        return await self.call("POST", f"{API}/rematch-all", answer=RematchedAll, seconds=300)

    async def ties(self) -> TieList:
        """Templates of one priority that match the same data sets."""
        return await self.call("GET", f"{API}/ties", answer=TieList)

    async def register_storage(self, storage: NewStorage) -> Storage:
        return await self.call("POST", f"{API}/storages", body=storage, answer=Storage)
