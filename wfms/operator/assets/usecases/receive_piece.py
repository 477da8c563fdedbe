"""Receive a piece of a file of an asset version."""

from uuid import UUID

from sluice.contracts.common.problems import Conflict
from sluice.contracts.data.asset_refs import file_name_of
from wfms.operator.assets.db import assets
from wfms.operator.assets.usecases.draft_files import find_complete_file, get_draft_file
from wfms.operator.context import OperatorContext


async def receive_piece(
    context: OperatorContext, name: str, uid: UUID, *, number: int, offset: int, data: bytes
) -> None:
    """Store a piece of a file of a draft.

    Raises:
        AssetDraftUnknown: There is no such draft or file.
        Conflict: The DMS rejects the piece.
        Unprocessable: The DMS rejects the piece.
        NotAvailable: The DMS does not answer.
    """
    file = await get_draft_file(context, name, uid, number)
    try:
        await context.dms.send_piece(uid, data, file=file_name_of(file.path), offset=offset)
    except Conflict:
        # Another client that sends the same files has already completed this one.
        if await find_complete_file(context, uid, file) is None:
            raise
    async with context.database.connection() as connection:
        await assets.touch_draft(connection, uid)
