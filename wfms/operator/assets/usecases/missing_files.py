"""The files that a draft of an asset lacks."""

from collections.abc import Sequence

from sluice.clients.dms import DmsClient
from sluice.contracts.common.naming import file_key
from sluice.contracts.data.asset_refs import file_name_of
from sluice.contracts.data.assets import (
    FileToSend,
    PieceAt,
)
from wfms.operator.assets.db.assets import Draft


async def list_missing_files(dms: DmsClient, draft: Draft) -> list[FileToSend]:
    """Return the files of the draft that are not complete in the DMS.

    The contents of complete files are not compared.

    Raises:
        NotAvailable: The DMS does not answer.
    """
    complete_names = {file.name for file in (await dms.list_files(draft.uid)).files}
    pieces = await dms.list_pieces(draft.uid) if len(complete_names) < len(draft.files) else []
    return [
        FileToSend(number=number, path=file.path, received=_count_received_bytes(pieces, file.path))
        for number, file in enumerate(draft.files)
        if file_name_of(file.path) not in complete_names
    ]


def _count_received_bytes(pieces: Sequence[PieceAt], path: str) -> int:
    key, end = file_key(file_name_of(path)), 0
    for piece in pieces:
        if piece.file == key and piece.offset == end:
            end += piece.size
    return end
