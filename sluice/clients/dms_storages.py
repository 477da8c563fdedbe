"""Calls to the DMS for storages."""

from collections.abc import Sequence
from uuid import UUID

from pydantic import RootModel

from sluice.clients.base import API, ServiceClient, build_path
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import DatasetUids, NewStorage, Storage, Watermarks
from sluice.contracts.data.storage_space import SpaceNeeded, StorageSpace


class _Storages(RootModel[list[Storage]]): ...


class StorageCalls(ServiceClient):
    """Calls for storages."""

    async def register_storage(self, new: NewStorage) -> Storage:
        """Register a storage. ``Conflict`` also means that it overlaps another storage."""
        return await self.call("POST", f"{API}/storages", body=new, answer=Storage)

    async def list_storages(
        self,
        type: StorageType | None = None,
        *,
        include_disabled: bool = False,
        measured: bool = False,
    ) -> list[Storage]:
        """Return the storages that get new data sets, the one with the most free space first.

        Args:
            type: Only storages of this type.
            include_disabled: Include disabled storages.
            measured: Include the free space and the number of data sets of each.
        """
        params = {"type": type, "all": include_disabled or None, "measured": measured or None}
        return (await self.call("GET", f"{API}/storages", answer=_Storages, params=params)).root

    async def disable_storage(self, name: str) -> Storage:
        """Disable a storage, so that it gets no new data sets."""
        return await self.call("POST", build_path("storages", name, "disable"), answer=Storage)

    async def mark_storage(self, name: str, marks: Watermarks) -> Storage:
        """Set the watermarks of a storage."""
        return await self.call(
            "PUT", build_path("storages", name, "marks"), body=marks, answer=Storage
        )

    async def unmark_storage(self, name: str) -> Storage:
        """Remove the watermarks of a storage."""
        return await self.call("DELETE", build_path("storages", name, "marks"), answer=Storage)

    async def report_needed_space(self, name: str, needed_bytes: int | None) -> StorageSpace:
        """Report that jobs wait for space on a storage, and return its free space.

        ``needed_bytes`` is None when no more jobs wait.
        """
        return await self.call(
            "PUT",
            build_path("storages", name, "needed"),
            body=SpaceNeeded(needed=needed_bytes),
            answer=StorageSpace,
        )

    async def list_datasets_on(self, name: str, uids: Sequence[UUID]) -> list[UUID]:
        """Return the uids of the given data sets that are on a storage."""
        stored_uids: list[UUID] = []
        for start in range(0, len(uids), 1000):
            request = DatasetUids(uids=list(uids[start : start + 1000]))
            answer = await self.call(
                "POST", build_path("storages", name, "datasets"), body=request, answer=DatasetUids
            )
            stored_uids += answer.uids
        return stored_uids

    async def enable_storage(self, name: str) -> Storage:
        """Enable a storage again. It raises the errors of ``register_storage``, too."""
        return await self.call("POST", build_path("storages", name, "enable"), answer=Storage)
