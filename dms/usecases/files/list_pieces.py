"""List the pieces that were received for a data set."""

from uuid import UUID

from dms.usecases.context import DmsContext
from dms.usecases.files.upload_folder import get_upload_folder
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.data.assets import PieceAt
from sluice.storage import StorageError, parse_piece_name
from sluice.text.visible_text import quoted


async def list_pieces(context: DmsContext, uid: UUID) -> list[PieceAt]:
    """Return the stored pieces by file and offset; raises like ``receive_piece``."""
    _, place = await get_upload_folder(context, uid, "")
    try:
        entries = await context.files.files_in(place.root, place.url)
    except StorageError as error:
        raise NotAvailable(f"storage {quoted(place.root.name)}: {error}") from error
    pieces = [(parse_piece_name(entry.name), entry.size) for entry in entries]
    return sorted(
        (PieceAt(file=part[0], offset=part[1], size=size) for part, size in pieces if part),
        key=lambda piece: (piece.file, piece.offset),
    )
