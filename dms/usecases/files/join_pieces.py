"""Join the pieces of a file, compare it with the announced checksum, and register it."""

from collections.abc import Sequence
from uuid import UUID

from dms.db.files import list_files_by_name
from dms.domain.errors import PiecesMissing, QuotaReached
from dms.usecases.context import DmsContext
from dms.usecases.files.list_pieces import list_pieces
from dms.usecases.files.register_files import register_files
from dms.usecases.files.upload_folder import get_upload_folder, wait_for_write
from sluice.contracts.common.naming import file_key
from sluice.contracts.common.problems import NotAvailable, Unprocessable
from sluice.contracts.data.assets import JoinedFile, JoinPieces, PieceAt
from sluice.contracts.data.datasets import NewFile
from sluice.servicekit.access.principal import Person
from sluice.storage import ChecksumMismatch, make_piece_name
from sluice.storage.checksums import Content
from sluice.text.visible_text import quoted


async def join_pieces(
    context: DmsContext, uid: UUID, request: JoinPieces, *, by: Person | None = None
) -> JoinedFile:
    """Join the pieces of a file, and verify and register it; the pieces are then removed.

    The call may be repeated. It also raises like ``receive_piece`` and ``register_files``.

    Raises:
        PiecesMissing: Not all pieces are there.
        Unprocessable: The content is not what was announced.
    """
    if (registered := await _find_registered(context, uid, request)) is not None:
        return registered
    try:
        return await _join(context, uid, request, by=by)
    except (PiecesMissing, NotAvailable, Unprocessable):
        # Another request joined them meanwhile. It removes the pieces after it registers the file.
        if (registered := await _find_registered(context, uid, request)) is not None:
            return registered
        raise


async def _join(
    context: DmsContext, uid: UUID, request: JoinPieces, *, by: Person | None
) -> JoinedFile:
    dataset, place = await get_upload_folder(context, uid, request.name)
    url = f"{dataset.url}/{request.name}"
    pieces = _from_beginning(await list_pieces(context, uid), file_key(request.name))
    received = sum(piece.size for piece in pieces)
    if received != request.size:
        raise PiecesMissing(request.name, received, request.size)
    parts = [f"{dataset.url}/{make_piece_name(request.name, piece.offset)}" for piece in pieces]
    try:
        stored = await wait_for_write(
            context.files.join(place.root, parts, url, Content(request.checksum, request.size)),
            place,
        )
    except ChecksumMismatch as error:
        await context.files.remove(
            place.root, parts, spared_folders=context.storage_monitor.read_only
        )
        raise Unprocessable(
            f"file {quoted(request.name)} has not arrived as it was announced: expected"
            f" {error.expected}, found {error.actual}; send it again",
            file=request.name,
        ) from error
    new = NewFile(
        seq=request.seq,
        name=request.name,
        size=stored.size,
        checksum=stored.checksum,
        url=url,
        meta=request.meta,
    )
    try:
        await register_files(context, uid, [new], by=by, for_asset=True)
    except QuotaReached:  # the pieces stay for another attempt
        await context.files.remove(
            place.root, [url], spared_folders=context.storage_monitor.read_only
        )
        raise
    await context.files.remove(place.root, parts, spared_folders=context.storage_monitor.read_only)
    return JoinedFile(size=stored.size, checksum=stored.checksum)


async def _find_registered(
    context: DmsContext, uid: UUID, request: JoinPieces
) -> JoinedFile | None:
    """Return the file if an earlier request has registered it; None otherwise."""
    async with context.database.connection() as connection:
        registered = (await list_files_by_name(connection, uid, [request.name])).get(request.name)
    if registered is None:
        return None
    joined = JoinedFile(size=registered.size, checksum=f"sha256:{registered.checksum.hex()}")
    same = request.checksum in {None, joined.checksum} and request.size == joined.size
    return joined if same else None


def _from_beginning(pieces: Sequence[PieceAt], key: str) -> list[PieceAt]:
    """Return the pieces of a file that follow each other from its start without a gap."""
    consecutive: list[PieceAt] = []
    end = 0
    for piece in pieces:
        if piece.file == key and piece.offset == end:
            consecutive.append(piece)
            end += piece.size
    return consecutive
