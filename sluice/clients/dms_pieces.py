"""Calls to the DMS for data sets that are filled over the network."""

from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.data.assets import JoinedFile, JoinPieces, PieceAt, Pieces

#: Timeout in seconds for joining and checking a file of many pieces.
JOIN_TIMEOUT = 600.0


class PieceCalls(ServiceClient):
    """Calls that send files in pieces."""

    async def send_piece(self, uid: UUID, data: bytes, *, file: str, offset: int) -> None:
        """Send a piece of at most ``PIECE`` bytes.

        Raises:
            NotFound: There is no such data set.
            Conflict: It is closed.
            Unprocessable: The piece is not accepted.
        """
        await self.send(_path(uid), data, params={"file": file, "offset": offset})

    async def list_pieces(self, uid: UUID) -> list[PieceAt]:
        """Return the pieces of incomplete files. Errors are as in ``send_piece``."""
        return (await self.call("GET", _path(uid), answer=Pieces)).pieces

    async def join_pieces(self, uid: UUID, request: JoinPieces) -> JoinedFile:
        """Join the pieces of a file. Other errors are as in ``send_piece``.

        Raises:
            Conflict: Pieces are missing.
            Unprocessable: The content is not as announced.
        """
        return await self.call(
            "POST", f"{_path(uid)}/join", body=request, answer=JoinedFile, seconds=JOIN_TIMEOUT
        )


def _path(uid: UUID) -> str:
    return f"{API}/datasets/{uid}/pieces"
