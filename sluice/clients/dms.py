"""Client of the DMS: the generated calls, and lists that take several requests."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from uuid import UUID

import httpx

from sluice.clients.base import API
from sluice.clients.generated.dms import DmsCalls
from sluice.clients.paging import MAX_FILES, iterate_files, read_existing_datasets
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import DatasetType
from sluice.contracts.data.datasets import (
    Dataset,
    DatasetPage,
    File,
    NewDataset,
    NewFile,
    NewFiles,
    RegistrationCounts,
)

#: The number of uids in one request for the data sets on a storage.
_MAX_STORED_UIDS = 1000


class DmsClient(DmsCalls):
    """Client of the DMS.

    Calls raise these errors:

    - ``NotFound``: The object does not exist, or the DMS is too old to know the call.
    - ``Conflict``: The object has other properties, or its state does not allow the call.
    - ``Forbidden``: The object belongs to another group.
    - ``Unprocessable``: The DMS refuses a value.
    - ``NotAvailable``: The DMS or a storage does not answer.
    """

    service = "dms"

    async def register_dataset(self, new: NewDataset) -> Dataset:
        """Register a data set, or return the one that the same request has registered.

        Raises:
            Conflict: The name is registered differently. The field ``dataset`` has its uid.
            Unprocessable: The period or run is unknown, or the folder is outside the storages.
        """
        dataset, _ = await self.make_dataset(new)
        return dataset

    async def get_dataset(
        self, uid: UUID, *, released: bool | None = True, copied: bool | None = True
    ) -> Dataset:
        """Return a data set, by default with all optional fields."""
        return await super().get_dataset(uid, released=released, copied=copied)

    async def list_datasets_by_uid(self, uids: Sequence[UUID]) -> list[Dataset]:
        """Return the existing data sets of ``uids``, in requests of 100 uids."""
        return await read_existing_datasets(lambda part: self.list_datasets(uid=part), uids)

    async def list_uploads(self, uids: Sequence[UUID]) -> list[Dataset]:
        """Return data sets with the reasons why uploads cannot succeed."""
        return await read_existing_datasets(
            lambda part: self.list_datasets(uid=part, lost=True), uids
        )

    async def find_dataset_by_name(self, name: str) -> Dataset | None:
        """Return the data set with exactly this name, or None."""
        datasets = await self.list_datasets_by_name(name)
        return next((dataset for dataset in datasets if dataset.name == name), None)

    async def list_datasets_by_name(self, name: str) -> list[Dataset]:
        """Return the data set with this name, or the outputs that have it as their output name."""
        return (await self.list_datasets(name=name)).datasets

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
        return await self.list_datasets(after=after, type=type, timestamp=timestamp, limit=limit)

    async def register_many_files(self, uid: UUID, files: Sequence[NewFile]) -> RegistrationCounts:
        """Register any number of files, in requests of 10 000.

        After an error, all files can be sent again.
        """
        new_count = known_count = 0
        for start in range(0, len(files), MAX_FILES):
            request = NewFiles(files=list(files[start : start + MAX_FILES]))
            answer = await self.register_files(uid, request)
            new_count, known_count = new_count + answer.new, known_count + answer.known
        return RegistrationCounts(new=new_count, known=known_count)

    async def list_datasets_on(self, name: str, uids: Sequence[UUID]) -> list[UUID]:
        """Return the uids of the given data sets that are on a storage."""
        stored_uids: list[UUID] = []
        for start in range(0, len(uids), _MAX_STORED_UIDS):
            part = list(uids[start : start + _MAX_STORED_UIDS])
            stored_uids += await self.find_datasets_on(name, uids=part)
        return stored_uids

    async def iterate_files(self, uid: UUID, *, page: int = MAX_FILES) -> AsyncIterator[File]:
        """Yield all files in order."""
        async for file in iterate_files(
            lambda after: self.list_files(uid, after=after, limit=page)
        ):
            yield file

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
