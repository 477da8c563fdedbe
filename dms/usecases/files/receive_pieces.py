"""Receive files in pieces, for data sets that are filled over the network.

A piece stays in the folder of the data set under a temporary name until all pieces of its file are
there. Then the pieces are joined, compared with the announced checksum, and the file is
registered. Each request may be repeated, and answered by another instance. Received pieces survive
a restart.
"""

from collections.abc import Awaitable, Sequence
from typing import TypeVar
from uuid import UUID

from dms.db.datasets import find_dataset
from dms.db.files import list_files_by_name
from dms.db.storages import list_roots
from dms.domain.errors import (
    DatasetNotOpen,
    PiecesMissing,
    PieceTooLarge,
    QuotaReached,
    UnknownDataset,
    UploadUnsupported,
)
from dms.domain.places import StoragePlace, storage_place
from dms.domain.storage_errors import StorageDisabled
from dms.usecases.context import DmsContext
from dms.usecases.files.register_files import register_files
from sluice.contracts.common.naming import file_key
from sluice.contracts.common.problems import NotAvailable, Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.assets import PIECE, JoinedFile, JoinPieces, PieceAt
from sluice.contracts.data.datasets import Dataset, NewFile
from sluice.servicekit.access.principal import Person
from sluice.storage import (
    ChecksumMismatch,
    StorageError,
    StorageFull,
    make_piece_name,
    parse_piece_name,
)
from sluice.storage.checksums import Content
from sluice.text.visible_text import quoted

ResultT = TypeVar("ResultT")


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
    dataset, place = await _folder(context, uid, file)
    await _wait_for_write(
        context.files.put_piece(place.root, f"{dataset.url}/{make_piece_name(file, offset)}", data),
        place,
    )


async def list_pieces(context: DmsContext, uid: UUID) -> list[PieceAt]:
    """Return the stored pieces by file and offset; raises like ``receive_piece``."""
    _, place = await _folder(context, uid, "")
    try:
        entries = await context.files.files_in(place.root, place.url)
    except StorageError as error:
        raise NotAvailable(f"storage {quoted(place.root.name)}: {error}") from error
    pieces = [(parse_piece_name(entry.name), entry.size) for entry in entries]
    return sorted(
        (PieceAt(file=part[0], offset=part[1], size=size) for part, size in pieces if part),
        key=lambda piece: (piece.file, piece.offset),
    )


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
    dataset, place = await _folder(context, uid, request.name)
    url = f"{dataset.url}/{request.name}"
    pieces = _from_beginning(await list_pieces(context, uid), file_key(request.name))
    received = sum(piece.size for piece in pieces)
    if received != request.size:
        raise PiecesMissing(request.name, received, request.size)
    parts = [f"{dataset.url}/{make_piece_name(request.name, piece.offset)}" for piece in pieces]
    try:
        stored = await _wait_for_write(
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


async def _wait_for_write(work: Awaitable[ResultT], place: StoragePlace) -> ResultT:
    """Wait for work that writes to a storage.

    Raises:
        ChecksumMismatch: The content is not what was announced.
        NotAvailable: The storage is full, or cannot be written now.
    """
    try:
        return await work
    except ChecksumMismatch:
        raise
    except StorageFull as error:
        raise NotAvailable(f"storage {quoted(place.root.name)} is full: {error}") from error
    except StorageError as error:
        raise NotAvailable(f"storage {quoted(place.root.name)}: {error}") from error


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


async def _folder(context: DmsContext, uid: UUID, file: str) -> tuple[Dataset, StoragePlace]:
    async with context.database.connection() as connection:
        row = await find_dataset(connection, uid)
        roots = [root for root in (await list_roots(connection)).values() if root.enabled]
    if row is None:
        raise UnknownDataset(uid)
    dataset = row.dataset
    if dataset.state is not DatasetState.OPEN:
        raise DatasetNotOpen(uid, dataset.name, state=dataset.state, file=file)
    subject = f"data set {quoted(dataset.name)}"
    if dataset.type is not DatasetType.INPUT or dataset.url is None:
        raise UploadUnsupported(uid, dataset.name)
    place = storage_place(dataset.url, roots, subject=subject)
    if not place.path:
        raise UploadUnsupported(uid, dataset.name)
    why = context.storage_monitor.rejection_reasons.get(place.root.id)
    if why is None and place.root.read_only:
        why = "it is read-only"
    if why is not None:
        raise StorageDisabled(subject, place.root.name, storage_id=place.root.id, why=why)
    return dataset, place
