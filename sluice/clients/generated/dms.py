"""Calls of dms, generated from its OpenAPI document by `make docs`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from pydantic import RootModel

from sluice.clients.base import API, ServiceClient, build_path

if TYPE_CHECKING:
    from sluice.contracts.access.owners import Share
    from sluice.contracts.access.quotas import HolderKind, Holdings, SetQuotaLimits
    from sluice.contracts.common.states import DatasetState, DatasetType, StorageType
    from sluice.contracts.data.append_only import Collected, CollectFiles, CutSlice
    from sluice.contracts.data.append_only_list import AppendOnlyDataset
    from sluice.contracts.data.assets import JoinedFile, JoinPieces, PieceAt
    from sluice.contracts.data.datasets import (
        Dataset,
        DatasetPage,
        DatasetStatus,
        File,
        FilePage,
        NewDataset,
        NewFile,
        NewFiles,
        NewStorage,
        RegistrationCounts,
        StalledList,
        Storage,
        Watermarks,
    )
    from sluice.contracts.data.runs import (
        Frame,
        NewFrame,
        NewPeriod,
        NewRun,
        Period,
        Run,
    )
    from sluice.contracts.data.stated_files import StatedFile
    from sluice.contracts.data.storage_space import StorageSpace


class ForwardedDmsCalls(ServiceClient):
    """Calls that the operator service forwards."""

    async def list_append_only_datasets(
        self, *, uid: UUID | None = None, generations: bool | None = None
    ) -> list[AppendOnlyDataset]:
        """List append-only data sets, and the templates that take slices of them.

        Outputs of chains are appended to these data sets. The answer says how many files each
        template got.
        """
        from sluice.contracts.data.append_only_list import AppendOnlyList

        return (
            await self.call(
                "GET",
                f"{API}/append-only",
                params={"uid": uid, "generations": generations},
                answer=AppendOnlyList,
            )
        ).datasets

    async def list_datasets(
        self,
        *,
        after: str | None = None,
        timestamp: datetime | None = None,
        type: DatasetType | None = None,
        state: Sequence[DatasetState] | None = None,
        name: str | None = None,
        uid: Sequence[UUID] | None = None,
        newest: bool | None = None,
        lost: bool | None = None,
        released: bool | None = None,
        limit: int | None = None,
    ) -> DatasetPage:
        """List data sets in the order in which they closed, or in one of two other orders.

        **Without `state` and `name`**: the data sets that can be processed (closed, uploading,
        uploaded), in order of closing. A client sends the `after` of each answer with its next
        request. It then misses no data set and gets none twice, however many close at the same
        moment. The same holds for a client that sends the newest `timestamp` of the answers as
        `timestamp`. The timestamp of a closed data set is its closing time; these times are
        unique and appear in order.  **With `state` or `name`**: in order of registration, in
        all states or the given ones. This order is for people: a data set whose registration
        takes long may appear before the cursor. People may name an output of a chain by the
        names of the chain's input and of the template's output, as `week.1.report`. With
        `newest` the last registered data set comes first. A cursor of one order is refused in
        the others.  **With `uid`**: those of the given data sets that exist, in order of
        registration, in one answer. Other conditions are refused.
        """
        from sluice.contracts.data.datasets import DatasetPage

        return await self.call(
            "GET",
            f"{API}/datasets",
            params={
                "after": after,
                "timestamp": timestamp,
                "type": type,
                "state": state,
                "name": name,
                "uid": uid,
                "newest": newest,
                "lost": lost,
                "released": released,
                "limit": limit,
            },
            answer=DatasetPage,
        )

    async def get_dataset(
        self, uid: UUID, *, released: bool | None = None, copied: bool | None = None
    ) -> Dataset:
        """Return a data set.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.datasets import Dataset

        return await self.call(
            "GET",
            f"{API}/datasets/{uid}",
            params={"released": released, "copied": copied},
            answer=Dataset,
        )

    async def close_dataset(self, uid: UUID, *, files: int | None = None) -> Dataset:
        """Close a data set; with `files`, as soon as this number of files is registered.

        The state in the answer says whether the data set is closed, `…/status` what it waits
        for. Until it is closed, the number may be corrected by another request. The request may
        be repeated. An input without files is refused.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.datasets import CloseDataset, Dataset

        return await self.call(
            "POST", f"{API}/datasets/{uid}/close", body=CloseDataset(files=files), answer=Dataset
        )

    async def list_files(
        self,
        uid: UUID,
        *,
        after: str | None = None,
        limit: int | None = None,
        released: bool | None = None,
    ) -> FilePage:
        """List the files of a data set in order of number and name.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.datasets import FilePage

        return await self.call(
            "GET",
            f"{API}/datasets/{uid}/files",
            params={"after": after, "limit": limit, "released": released},
            answer=FilePage,
        )

    async def register_files(self, uid: UUID, body: NewFiles) -> RegistrationCounts:
        """Register files of a data set, all of them or none.

        Registered files that are equal count as known. On a file system, each file must exist
        with the given size.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.datasets import RegistrationCounts

        return await self.call(
            "POST", f"{API}/datasets/{uid}/files", body=body, answer=RegistrationCounts
        )

    async def get_file(self, uid: UUID, file: int) -> File:
        """Return the record of a file: its place, size, checksum and number.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.datasets import File

        return await self.call("GET", f"{API}/datasets/{uid}/files/{file}", answer=File)

    async def list_periods(self) -> list[Period]:
        """List all periods by name."""
        from sluice.contracts.data.runs import Period

        return (await self.call("GET", f"{API}/periods", answer=RootModel[list[Period]])).root

    async def register_period(self, body: NewPeriod) -> Period:
        """Register a period: 201; 200 with the first one for the same request again.

        It can raise ``Conflict``.
        """
        from sluice.contracts.data.runs import Period

        return await self.call("POST", f"{API}/periods", body=body, answer=Period)

    async def end_period(self, name: str, *, ended_at: datetime | None) -> Period:
        """Set the end of a period; null removes it.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.runs import EndTime, Period

        return await self.call(
            "PATCH", build_path("periods", name), body=EndTime(ended_at=ended_at), answer=Period
        )

    async def list_runs(self, *, period: str | None = None) -> list[Run]:
        """List all runs, or those of a period, by number.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.runs import Run

        return (
            await self.call(
                "GET", f"{API}/runs", params={"period": period}, answer=RootModel[list[Run]]
            )
        ).root

    async def register_run(self, body: NewRun) -> Run:
        """Register a run of a period: 201; 200 with the first one for the same request again.

        It can raise ``Conflict``.
        """
        from sluice.contracts.data.runs import Run

        return await self.call("POST", f"{API}/runs", body=body, answer=Run)

    async def get_run(self, number: int) -> Run:
        """Return a run.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.runs import Run

        return await self.call("GET", f"{API}/runs/{number}", answer=Run)

    async def end_run(self, number: int, *, ended_at: datetime | None) -> Run:
        """Set the end of a run; null removes it.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.runs import EndTime, Run

        return await self.call(
            "PATCH", f"{API}/runs/{number}", body=EndTime(ended_at=ended_at), answer=Run
        )

    async def list_frames(
        self, number: int, *, after: int | None = None, limit: int | None = None
    ) -> list[Frame]:
        """List the frames of a run by number.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.runs import Frame

        return (
            await self.call(
                "GET",
                f"{API}/runs/{number}/frames",
                params={"after": after, "limit": limit},
                answer=RootModel[list[Frame]],
            )
        ).root

    async def register_frames(
        self, number: int, *, frames: Sequence[NewFrame]
    ) -> RegistrationCounts:
        """Add frames to a run, all of them or none.

        Registered frames that are equal count as known.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.datasets import RegistrationCounts
        from sluice.contracts.data.runs import NewFrames

        return await self.call(
            "POST",
            f"{API}/runs/{number}/frames",
            body=NewFrames(frames=list(frames)),
            answer=RegistrationCounts,
        )

    async def list_storages(
        self,
        *,
        type: StorageType | None = None,
        name: str | None = None,
        all: bool | None = None,
        measured: bool | None = None,
    ) -> list[Storage]:
        """List the storages that get new data sets, those with the most free space first.

        With `all`, also disabled storages, and those that get no new data sets for another
        reason, which is their `warning`. With `name`, this storage, whether or not it gets new
        data sets.
        """
        from sluice.contracts.data.datasets import Storage

        return (
            await self.call(
                "GET",
                f"{API}/storages",
                params={"type": type, "name": name, "all": all, "measured": measured},
                answer=RootModel[list[Storage]],
            )
        ).root

    async def register_storage(self, body: NewStorage) -> Storage:
        """Register a storage.

        The answer is 201, or 200 with the first one for the same request again. It must be
        where the settings of the DMS allow storages (422), and separate from all others (409).
        It is probed: a small file is written, read and deleted. On a read-only storage, the
        list of files is read.

        It can raise ``Conflict``.
        """
        from sluice.contracts.data.datasets import Storage

        return await self.call("POST", f"{API}/storages", body=body, answer=Storage)

    async def disable_storage(self, name: str) -> Storage:
        """Disable a storage for new data sets.

        Its files can still be read and deleted. The request may be repeated.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.datasets import Storage

        return await self.call("POST", build_path("storages", name, "disable"), answer=Storage)

    async def enable_storage(self, name: str) -> Storage:
        """Enable a storage for new data sets again, if it could be registered now.

        The request may be repeated.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.datasets import Storage

        return await self.call("POST", build_path("storages", name, "enable"), answer=Storage)

    async def unmark_storage(self, name: str) -> Storage:
        """Remove the watermarks of a storage.

        The request may be repeated.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.datasets import Storage

        return await self.call("DELETE", build_path("storages", name, "marks"), answer=Storage)

    async def mark_storage(self, name: str, body: Watermarks) -> Storage:
        """Set the watermarks of a storage.

        It counts as filling from its high watermark until it is below the low one. The request
        may be repeated.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.datasets import Storage

        return await self.call(
            "PUT", build_path("storages", name, "marks"), body=body, answer=Storage
        )


class DmsCalls(ForwardedDmsCalls):
    """All calls."""

    async def register_asset_dataset(self, body: NewDataset) -> Dataset:
        """Register the data set of a version of an asset: 201.

        If its name is registered: 200 with the first one for the same request, 409 for another
        request.

        It can raise ``Conflict``.
        """
        from sluice.contracts.data.datasets import Dataset

        return await self.call("POST", f"{API}/asset-datasets", body=body, answer=Dataset)

    async def close_asset_dataset(self, uid: UUID, *, files: int | None = None) -> Dataset:
        """Close the data set of a version with its number of files.

        It may be repeated.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.datasets import CloseDataset, Dataset

        return await self.call(
            "POST",
            f"{API}/asset-datasets/{uid}/close",
            body=CloseDataset(files=files),
            answer=Dataset,
        )

    async def register_asset_files(
        self, uid: UUID, *, files: Sequence[NewFile]
    ) -> RegistrationCounts:
        """Register files that other versions of the asset have, all of them or none.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.datasets import NewFiles, RegistrationCounts

        return await self.call(
            "POST",
            f"{API}/asset-datasets/{uid}/files",
            body=NewFiles(files=list(files)),
            answer=RegistrationCounts,
        )

    async def make_dataset(self, body: NewDataset) -> tuple[Dataset, bool]:
        """Register a data set: 201.

        If its name is registered: 200 with the first one for the same request, 409 for another
        request. Names that begin with `asset.` are reserved for assets.

        It can raise ``Conflict``.
        """
        from sluice.contracts.data.datasets import Dataset

        return await self.create(f"{API}/datasets", body=body, answer=Dataset)

    async def delete_dataset(
        self, uid: UUID, *, force: bool | None = None, taken_back: bool | None = None
    ) -> Dataset:
        """Delete a data set and its files.

        Files that other data sets hold, and files on read-only storages, stay. The DMS does not
        know chains. People send this request to the operator service, which refuses it while a
        chain needs the data set. The request may be repeated, and resumes a halted deletion.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.datasets import Dataset

        return await self.call(
            "DELETE",
            f"{API}/datasets/{uid}",
            params={"force": force, "taken_back": taken_back},
            answer=Dataset,
        )

    async def collect_files(
        self, uid: UUID, body: CollectFiles, *, made_of: UUID | None = None
    ) -> Collected:
        """Append the files of a closed data set to an append-only data set, by reference.

        The append-only data set has the given name and group. A repeated request has no effect.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.append_only import Collected

        return await self.call(
            "POST",
            f"{API}/datasets/{uid}/collect",
            params={"made_of": made_of},
            body=body,
            answer=Collected,
        )

    async def list_pieces(self, uid: UUID) -> list[PieceAt]:
        """List the stored pieces of files that are not complete.

        `file` stands for the name of the file: it is the first 32 digits of the SHA-256 of the
        name.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.assets import Pieces

        return (await self.call("GET", f"{API}/datasets/{uid}/pieces", answer=Pieces)).pieces

    async def send_piece(self, uid: UUID, data: bytes, *, file: str, offset: int) -> None:
        """Store a piece of a file from `offset` on, of at most 8 MiB.

        It replaces a piece with the same offset.

        It can raise ``NotFound`` and ``Conflict``.
        """
        await self.send(
            f"{API}/datasets/{uid}/pieces", data, params={"file": file, "offset": offset}
        )

    async def join_pieces(self, uid: UUID, body: JoinPieces) -> JoinedFile:
        """Join the pieces of a file, verify it, and register it.

        The request may be repeated.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.assets import JoinedFile

        return await self.call(
            "POST", f"{API}/datasets/{uid}/pieces/join", seconds=600, body=body, answer=JoinedFile
        )

    async def resume_dataset(self, uid: UUID) -> Dataset:
        """Resume a halted upload or deletion; without one, do nothing.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.datasets import Dataset

        return await self.call("POST", f"{API}/datasets/{uid}/resume", answer=Dataset)

    async def share_dataset(self, uid: UUID, body: Share) -> Dataset:
        """Set which groups see the data set beside its own, and optionally its own group.

        Groups that are not named no longer see it.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.datasets import Dataset

        return await self.call("PUT", f"{API}/datasets/{uid}/share", body=body, answer=Dataset)

    async def cut_slice(self, uid: UUID, body: CutSlice) -> UUID | None:
        """Cut a slice of the files that the reader has not got yet: a data set that closes at
        once.

        There is no slice if there is no new file, or another request was faster.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.append_only import CutAnswer

        return (
            await self.call("POST", f"{API}/datasets/{uid}/slices", body=body, answer=CutAnswer)
        ).dataset_uid

    async def get_dataset_status(self, uid: UUID) -> DatasetStatus:
        """Return whether a data set can be processed, and what it waits for.

        If it waits for files, the answer says how many are missing, and which numbers no file
        has. If its upload or deletion makes no progress, the answer says why.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.datasets import DatasetStatus

        return await self.call("GET", f"{API}/datasets/{uid}/status", answer=DatasetStatus)

    async def check_stated_files(
        self, *, files: Sequence[StatedFile], content: bool = False
    ) -> list[str | None]:
        """Check whether files exist with the given size, or the given content.

        The files need not be registered. Nothing is changed.
        """
        from sluice.contracts.data.stated_files import CheckFiles, FileFaults

        return (
            await self.call(
                "POST",
                f"{API}/files/look",
                retry=False,
                body=CheckFiles(files=list(files), content=content),
                answer=FileFaults,
            )
        ).faults

    async def list_holdings(self, kind: HolderKind, *, name: str | None = None) -> Holdings:
        """List what each group or person uses here, and the quotas.

        People see themselves and their groups.
        """
        from sluice.contracts.access.quotas import Holdings

        return await self.call(
            "GET", build_path("quotas", kind), params={"name": name}, answer=Holdings
        )

    async def set_quota_limits(self, kind: HolderKind, name: str, body: SetQuotaLimits) -> None:
        """Set how much a group or a person may use here.

        The quota applies to later additions. Existing usage stays. Repeating the request is
        safe.
        """
        await self.call("PUT", build_path("quotas", kind, name), body=body)

    async def list_stalled_transfers(self, *, limit: int | None = None) -> StalledList:
        """List uploads and deletions that failed several times or wait for a person, by reason."""
        from sluice.contracts.data.datasets import StalledList

        return await self.call("GET", f"{API}/stalled", params={"limit": limit}, answer=StalledList)

    async def find_datasets_on(self, name: str, *, uids: Sequence[UUID]) -> list[UUID]:
        """Return those of the data sets whose first file is on the storage.

        Nothing is changed.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.datasets import DatasetUids

        return (
            await self.call(
                "POST",
                build_path("storages", name, "datasets"),
                body=DatasetUids(uids=list(uids)),
                answer=DatasetUids,
            )
        ).uids

    async def report_needed_space(self, name: str, *, needed: int | None) -> StorageSpace:
        """Record that jobs wait for space on a storage, or wait no more; return its free space.

        The storage counts as full until a minute after the last such request. The request may
        be repeated.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.storage_space import SpaceNeeded, StorageSpace

        return await self.call(
            "PUT",
            build_path("storages", name, "needed"),
            body=SpaceNeeded(needed=needed),
            answer=StorageSpace,
        )
