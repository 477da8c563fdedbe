"""Routes to fill a data set over the network, piece by piece."""

from typing import Annotated
from uuid import UUID

from fastapi import Query, Request

from dms.api.dependencies import Context
from dms.usecases.files.join_pieces import join_pieces
from dms.usecases.files.list_pieces import list_pieces
from dms.usecases.files.receive_piece import receive_piece
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.bounds import NewFileName
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.contracts.data.assets import JoinedFile, JoinPieces, Pieces
from sluice.servicekit.access.policy import allow
from sluice.servicekit.access.principal_dependencies import CallerPerson
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints

Offset = Annotated[int, Query(ge=0, lt=10**15)]
_BYTES = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
_REFUSALS = errors(NotFound, Conflict, Unprocessable, NotAvailable)

router = api_router("/api/v1/datasets/{uid}/pieces", tags=["data sets"])


@router.put(
    "", operation_id="send_piece", status_code=204, responses=_REFUSALS, openapi_extra=_BYTES
)
@allow(CallingService.OPERATOR)
async def send_piece_route(
    context: Context, *, uid: UUID, file: NewFileName, offset: Offset, request: Request
) -> None:
    """Store a piece of a file from `offset` on, of at most 8 MiB.

    It replaces a piece with the same offset.
    """
    await receive_piece(context, uid, file=file, offset=offset, data=await request.body())


@router.get(
    "",
    operation_id="list_pieces",
    openapi_extra=client_hints(returns="pieces"),
    responses=_REFUSALS,
)
@allow(CallingService.OPERATOR)
async def list_pieces_route(context: Context, uid: UUID) -> Pieces:
    """List the stored pieces of files that are not complete.

    `file` stands for the name of the file: it is the first 32 digits of the SHA-256 of the
    name.
    """
    return Pieces(pieces=await list_pieces(context, uid))


@router.post(
    "/join",
    operation_id="join_pieces",
    openapi_extra=client_hints(seconds=600),
    responses=_REFUSALS,
)
@allow(CallingService.OPERATOR)
async def join_pieces_route(
    context: Context, uid: UUID, body: JoinPieces, by: CallerPerson
) -> JoinedFile:
    """Join the pieces of a file, verify it, and register it.

    The request may be repeated.
    """
    return await join_pieces(context, uid, body, by=by)
