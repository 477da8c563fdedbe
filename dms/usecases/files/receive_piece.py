"""Receive a piece of a file, for data sets that are filled over the network.

A piece stays in the folder of the data set under a temporary name until all pieces of its file are
there. Each request may be repeated, and answered by another instance. Received pieces survive a
restart.
"""

from uuid import UUID

from dms.domain.errors import PieceTooLarge
from dms.usecases.context import DmsContext
from dms.usecases.files.upload_folder import get_upload_folder, wait_for_write
from sluice.contracts.data.assets import PIECE
from sluice.storage import make_piece_name


async def receive_piece(
    context: DmsContext, uid: UUID, *, file: str, offset: int, data: bytes
) -> None:
    """Store a piece of a file; it replaces a piece with the same offset.

    The data set must be an open input with a folder on a storage that takes data.

    Raises:
        UnknownDataset: The data set does not exist.
        DatasetNotOpen: It is not open.
        UploadUnsupported: It is not an input, or does not have its own folder.
        PieceTooLarge: The piece is too large.
        StorageDisabled: Its storage takes no new data.
        NotAvailable: The storage is full, or cannot be written now.
    """
    if len(data) > PIECE:
        raise PieceTooLarge(len(data), PIECE)
    dataset, place = await get_upload_folder(context, uid, file)
    await wait_for_write(
        context.files.put_piece(place.root, f"{dataset.url}/{make_piece_name(file, offset)}", data),
        place,
    )
