"""Complete a file of an asset version."""

from uuid import UUID

from sluice.contracts.common.problems import Conflict
from sluice.contracts.data.asset_refs import MARK, file_name_of
from sluice.contracts.data.assets import (
    AssetFile,
    JoinPieces,
)
from wfms.operator.assets.db import assets
from wfms.operator.assets.domain.stored_files import (
    AnnouncedFile,
)
from wfms.operator.assets.usecases.draft_files import find_complete_file, get_draft_file
from wfms.operator.context import OperatorContext


async def complete_file(
    context: OperatorContext, name: str, uid: UUID, *, number: int
) -> AssetFile:
    """Verify a file whose pieces were all received, and add it to the draft; idempotent.

    Raises:
        AssetDraftUnknown: There is no such draft or file.
        Conflict: Pieces are missing.
        Unprocessable: The file differs from its announced size or checksum.
        NotAvailable: The DMS does not answer.
    """
    file = await get_draft_file(context, name, uid, number)
    stored = await _store_file(context, name, uid, number=number, file=file)
    if file.checksum is None:
        async with context.database.connection() as connection:
            await assets.note_checksum(connection, uid, number, stored.checksum)
    return stored


async def _store_file(
    context: OperatorContext, name: str, uid: UUID, *, number: int, file: AnnouncedFile
) -> AssetFile:
    pieces = JoinPieces(
        seq=number,
        name=file_name_of(file.path),
        size=file.size,
        checksum=file.checksum,
        meta={MARK: name},
    )
    try:
        joined = await context.dms.join_pieces(uid, pieces)
    except Conflict:
        if (complete := await find_complete_file(context, uid, file)) is None:
            raise
        return complete
    return AssetFile(path=file.path, size=joined.size, checksum=joined.checksum)
