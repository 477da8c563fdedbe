"""What the operator service is asked about assets."""

from urllib.parse import quote
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.clients.dms_pieces import JOINING
from sluice.contracts.assets import (
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
    async def assets(self) -> AssetList:
        """By name."""
        return await self.call("GET", f"{API}/assets", answer=AssetList)

    async def asset(self, name: str) -> Asset:
        """Raises ``NotFound``."""
        return await self.call("GET", _path(name), answer=Asset)

    async def asset_uses(self, name: str) -> AssetUses:
        """Raises ``NotFound``."""
        return await self.call("GET", f"{_path(name)}/uses", answer=AssetUses)

    async def remove_asset(self, name: str, *, version: int | None = None) -> RemovedAsset:
        """Takes it back; ``version`` None: all. Raises ``NotFound``."""
        params = {"version": version}
        return await self.call("DELETE", _path(name), params=params, answer=RemovedAsset)

    async def begin_asset(self, name: str, new: NewAsset) -> AssetDraft:
        """Raises ``Unprocessable`` (the name), ``Conflict``."""
        return await self.call("POST", f"{_path(name)}/drafts", body=new, answer=AssetDraft)

    async def send_asset_piece(
        self, name: str, draft: UUID, data: bytes, *, number: int, offset: int
    ) -> None:
        """At most ``PIECE`` bytes. Raises ``NotFound``, ``Conflict``, ``Unprocessable``."""
        path = f"{_path(name)}/drafts/{draft}/files/{number}"
        await self.send(path, data, params={"offset": offset}, seconds=300.0)

    async def complete_asset_file(self, name: str, draft: UUID, *, number: int) -> AssetFile:
        """Raises as ``send_asset_piece``."""
        path = f"{_path(name)}/drafts/{draft}/files/{number}"
        return await self.call("POST", path, answer=AssetFile, seconds=JOINING)

    async def complete_asset(self, name: str, draft: UUID) -> StoredAsset:
        """Raises ``NotFound``, ``Conflict`` where files are missing."""
        return await self.call("POST", f"{_path(name)}/drafts/{draft}", answer=StoredAsset)


def _path(name: str) -> str:
    return f"{API}/assets/{quote(name, safe='')}"
