"""What the DMS is asked for data sets that are filled over the network."""

from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.assets import JoinedFile, JoinPieces, PieceAt, Pieces

#: Seconds within which a file of many pieces has been joined and read back.
JOINING = 600.0


class PieceCalls(ServiceClient):
    async def send_piece(self, uid: UUID, data: bytes, *, file: str, offset: int) -> None:
        """At most ``PIECE`` bytes. Raises ``NotFound``, ``Conflict`` (it is closed),
        ``Unprocessable``.
        """
        await self.send(_path(uid), data, params={"file": file, "offset": offset})

    async def pieces(self, uid: UUID) -> list[PieceAt]:
        """What is there of files that are not complete; errors as ``send_piece``."""
        return (await self.call("GET", _path(uid), answer=Pieces)).pieces

    async def join_pieces(self, uid: UUID, wanted: JoinPieces) -> JoinedFile:
        """Raises ``Conflict`` where pieces are missing, ``Unprocessable`` where the content is not
        what was announced; else as ``send_piece``.
        """
        return await self.call(
            "POST", f"{_path(uid)}/join", body=wanted, answer=JoinedFile, seconds=JOINING
        )


def _path(uid: UUID) -> str:
    return f"{API}/datasets/{uid}/pieces"
