"""Calls to the DMS for the data sets of assets. Only the operator service may send them."""

from collections.abc import Sequence
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.data.datasets import (
    CloseDataset,
    Dataset,
    NewDataset,
    NewFile,
    NewFiles,
    RegistrationCounts,
)

_PATH = f"{API}/asset-datasets"


class AssetDatasetCalls(ServiceClient):
    """Calls that register, fill and close the data set of a version of an asset."""

    async def register_asset_dataset(self, new: NewDataset) -> Dataset:
        """Register a data set, or return the one that the same request has registered.

        Raises:
            Conflict: Another data set has the name, whose uid is the field ``dataset``, or the
                folder.
        """
        return await self.call("POST", _PATH, body=new, answer=Dataset)

    async def register_asset_files(self, uid: UUID, files: Sequence[NewFile]) -> RegistrationCounts:
        """Register at most 10 000 files that are on a storage already."""
        body = NewFiles(files=list(files))
        return await self.call("POST", f"{_PATH}/{uid}/files", body=body, answer=RegistrationCounts)

    async def close_asset_dataset(self, uid: UUID, *, files: int) -> Dataset:
        """Close a data set that has this number of files. Repeating the call is safe."""
        body = CloseDataset(files=files)
        return await self.call("POST", f"{_PATH}/{uid}/close", body=body, answer=Dataset)
