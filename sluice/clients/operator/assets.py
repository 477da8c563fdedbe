"""Calls to the operator service about assets."""

from uuid import UUID

from sluice.clients.base import API, ServiceClient, build_path
from sluice.clients.dms_pieces import JOIN_TIMEOUT
from sluice.contracts.data.assets import (
    Asset,
    AssetDraft,
    AssetFile,
    AssetList,
    AssetUses,
    NewAsset,
    RemovedAsset,
    StoredAsset,
)


class AssetCalls(ServiceClient):
    """Calls about assets."""

    async def list_assets(self) -> AssetList:
        """Return the assets by name."""
        return await self.call("GET", f"{API}/assets", answer=AssetList)

    async def get_asset(self, name: str) -> Asset:
        """Return an asset.

        Raises:
            NotFound: There is no such asset.
        """
        return await self.call("GET", _path(name), answer=Asset)

    async def list_asset_uses(self, name: str) -> AssetUses:
        """Return the uses of an asset.

        Raises:
            NotFound: There is no such asset.
        """
        return await self.call("GET", f"{_path(name)}/uses", answer=AssetUses)

    async def remove_asset(self, name: str, *, version: int | None = None) -> RemovedAsset:
        """Remove a version of an asset, or all versions.

        Raises:
            NotFound: There is no such asset or version.
        """
        params = {"version": version}
        return await self.call("DELETE", _path(name), params=params, answer=RemovedAsset)

    async def begin_asset(self, name: str, new: NewAsset) -> AssetDraft:
        """Begin the upload of an asset version.

        Raises:
            Unprocessable: The name is not valid.
            Conflict: Somebody else changes the asset at this moment.
        """
        return await self.call("POST", f"{_path(name)}/drafts", body=new, answer=AssetDraft)

    async def send_asset_piece(
        self, name: str, draft: UUID, data: bytes, *, number: int, offset: int
    ) -> None:
        """Send a piece of at most ``PIECE`` bytes.

        Raises:
            NotFound: There is no such draft.
            Conflict: The piece does not fit what is there.
            Unprocessable: The piece is not accepted.
        """
        path = f"{_path(name)}/drafts/{draft}/files/{number}"
        await self.send(path, data, params={"offset": offset}, seconds=300.0)

    async def complete_asset_file(self, name: str, draft: UUID, *, number: int) -> AssetFile:
        """Complete a file of a draft. Errors are as in ``send_asset_piece``."""
        path = f"{_path(name)}/drafts/{draft}/files/{number}"
        return await self.call("POST", path, answer=AssetFile, seconds=JOIN_TIMEOUT)

    async def complete_asset(self, name: str, draft: UUID) -> StoredAsset:
        """Complete the upload of an asset version.

        Raises:
            NotFound: There is no such draft.
            Conflict: Files are missing.
        """
        return await self.call("POST", f"{_path(name)}/drafts/{draft}", answer=StoredAsset)


def _path(name: str) -> str:
    return build_path("assets", name)
