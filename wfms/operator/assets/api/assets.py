"""``/api/v1/assets``: models and configurations of tools.

A client creates a draft of a version and sends its files in pieces. It then completes the draft,
and the whole version appears at once.
"""

from typing import Annotated
from uuid import UUID

from pydantic import Field, ValidationError

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.base import Contract
from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.data.asset_refs import AssetName
from sluice.contracts.data.assets import (
    PIECE,
    Asset,
    AssetDraft,
    AssetFile,
    AssetList,
    AssetUses,
    NewAsset,
    RemovedAsset,
    StoredAsset,
)
from sluice.servicekit.access.policy import SHIFT, SUBMITTERS, VIEWERS, policy
from sluice.servicekit.web.openapi import client_hints
from wfms.operator.assets.usecases.begin_asset import begin_asset
from wfms.operator.assets.usecases.complete_asset import complete_asset
from wfms.operator.assets.usecases.complete_file import complete_file
from wfms.operator.assets.usecases.get_asset import get_asset
from wfms.operator.assets.usecases.list_asset_uses import list_asset_uses
from wfms.operator.assets.usecases.list_assets import list_assets
from wfms.operator.assets.usecases.receive_piece import receive_piece
from wfms.operator.assets.usecases.remove_asset import remove_asset
from wfms.operator.context import OperatorContext
from wfms.operator.errors import RequestTooLarge
from wfms.operator.http.body import read_body
from wfms.operator.http.route import Route, to_request_refused


class AssetPathNames(Contract):
    """The names in the path of an asset."""

    name: AssetName


class AssetRemovalQuery(Contract):
    """Which versions of an asset are withdrawn.

    Attributes:
        version: Withdraw only this version.
    """

    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


class PieceQuery(Contract):
    """Where a piece of a file belongs.

    Attributes:
        offset: Position in bytes at which the piece begins in its file.
    """

    offset: Annotated[int, Field(ge=0, lt=10**15)] = 0


def _read_piece() -> bytes:
    return read_body(PIECE)


class AssetRoutes:
    """The routes of assets."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context
        self._database = context.database

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        name = "/assets/<name>"
        draft = f"{name}/drafts/<uuid:draft>"
        file = f"{draft}/files/<int:number>"
        return [
            Route("GET", "/assets", "list_assets", self.list, VIEWERS,
                  "List assets with their versions, withdrawn ones included.",
                  answer=AssetList),
            Route("GET", name, "get_asset", self.read, policy(Role.VIEWER, CallingService.CHAINS),
                  "Return the versions of an asset. New chains get the newest one that is not"
                  " withdrawn.",
                  answer=Asset, errors=(NotFound,)),
            Route("GET", f"{name}/uses", "list_asset_uses", self.uses, VIEWERS,
                  "List which chains got which version of an asset.",
                  answer=AssetUses, errors=(NotFound,)),
            Route("DELETE", name, "remove_asset", self.remove, SHIFT,
                  "Withdraw versions from new chains. Files are deleted when no chain needs them.",
                  answer=RemovedAsset, query=AssetRemovalQuery, errors=(NotFound,)),
            Route("POST", f"{name}/drafts", "begin_asset", self.begin, SUBMITTERS,
                  "Begin a version. The answer lists the files to send, or names the version"
                  " that has them.",
                  answer=AssetDraft, status=201, body=NewAsset,
                  errors=(NotFound, Conflict, Unprocessable)),
            Route("PUT", file, "send_asset_piece", self.receive, SUBMITTERS,
                  "Store a piece of a file, at most 8 MiB.",
                  status=204, query=PieceQuery, read=_read_piece, sends_bytes=True,
                  errors=(NotFound, Conflict, Unprocessable, RequestTooLarge),
                  client=client_hints(seconds=300)),
            Route("POST", file, "complete_asset_file", self.complete_file, SUBMITTERS,
                  "Finish a file: join its pieces and verify its checksum.",
                  answer=AssetFile, errors=(NotFound, Conflict, Unprocessable),
                  client=client_hints(seconds=600)),
            Route("POST", draft, "complete_asset", self.complete, SUBMITTERS,
                  "Finish a draft, which becomes the next version. The same files give the"
                  " existing version.",
                  answer=StoredAsset, errors=(NotFound, Conflict)),
        ]  # fmt: skip

    async def list(self) -> AssetList:
        """List all assets."""
        return AssetList(assets=await list_assets(self._database))

    async def read(self, name: str) -> Asset:
        """Return an asset with its versions."""
        return await get_asset(self._database, name)

    async def uses(self, name: str) -> AssetUses:
        """Return the chains that use each version of an asset."""
        return await list_asset_uses(self._context, name)

    async def remove(self, name: str, query: AssetRemovalQuery) -> RemovedAsset:
        """Withdraw one version of an asset, or all."""
        return await remove_asset(self._context, name, version=query.version)

    async def begin(self, name: str, body: NewAsset) -> AssetDraft:
        """Create a draft of a version."""
        return await begin_asset(self._context, require_name(name), body)

    async def receive(
        self, name: str, *, draft: UUID, number: int, query: PieceQuery, body: bytes
    ) -> None:
        """Store a piece of a file."""
        await receive_piece(
            self._context, name, draft, number=number, offset=query.offset, data=body
        )

    async def complete_file(self, name: str, draft: UUID, number: int) -> AssetFile:
        """Verify a file that has been sent completely."""
        return await complete_file(self._context, name, draft, number=number)

    async def complete(self, name: str, draft: UUID) -> StoredAsset:
        """Turn a complete draft into a version."""
        return await complete_asset(self._context, name, draft)


def require_name(name: str) -> str:
    """Return ``name`` if it is a valid name of an asset.

    Raises:
        RequestRefused: No asset can have this name.
    """
    try:
        return AssetPathNames(name=name).name
    except ValidationError as error:
        raise to_request_refused("path", error) from error
