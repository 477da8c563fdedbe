"""Serve the content of a file, or a part of it."""

import hashlib
import os
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

import structlog

from dms.db.datasets import find_dataset
from dms.db.files import FileCopies, find_file_copies
from dms.db.storages import list_roots
from dms.domain.errors import FileDeleted, UnknownDataset, UnknownFile
from dms.domain.places import OutsideStorages, Root, storage_place
from dms.domain.ranges import Span
from dms.usecases.context import DmsContext
from dms.usecases.datasets.require_present import present_folders
from dms.usecases.files.file_reads import FileReads, OpenFile
from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.common.naming import own_name
from sluice.contracts.common.problems import NotAvailable, NotFound
from sluice.contracts.common.states import DatasetState, StorageType
from sluice.storage import (
    ChecksumMismatch,
    FileMissing,
    NotAFile,
    OutsideStorage,
    Reader,
    StorageError,
    StorageUnavailable,
    find_local_path,
)
from sluice.text.visible_text import quoted

log = structlog.get_logger(__name__)

#: Bytes read at once.
PIECE = 512 * 1024

_NO_LOG = "the log has been deleted"
_DELETED_STATES = frozenset({DatasetState.DELETING, DatasetState.DELETED})


@dataclass(frozen=True, slots=True)
class FileContent:
    """The content of a file; its holder must release ``file``.

    Attributes:
        file: The file.
        name: The file name for people.
        size: Size in bytes.
        checksum: The checksum in the catalogue; None if the catalogue does not know the file.
    """

    file: OpenFile
    name: str
    size: int
    checksum: str | None


async def open_content(context: DmsContext, uid: UUID, file_id: int) -> FileContent:
    """Open a file of a data set.

    A replica that cannot be read, or has another size, is skipped for another one.

    Raises:
        UnknownDataset: The data set does not exist.
        UnknownFile: The data set does not have the file.
        FileDeleted: The data set is being deleted or is deleted, or the file has no replica left.
        NotAvailable: No replica can be read now.
    """
    async with context.database.connection() as connection:
        row = await find_dataset(connection, uid)
        if row is None:
            raise UnknownDataset(uid)
        file = await find_file_copies(connection, uid, file_id)
        if file is None:
            raise UnknownFile(uid, file_id)
        roots = await list_roots(connection)
    if row.dataset.state in _DELETED_STATES or not file.copies:
        raise FileDeleted(uid, file.name)
    places = [(roots[storage], roots[storage].build_url(path)) for storage, path in file.copies]
    opened = await _first_readable(context.reads, file, places)
    return FileContent(opened, own_name(file.name), file.size, f"sha256:{file.checksum.hex()}")


async def open_log(context: DmsContext, url: str, visibility: Visibility = ALL) -> FileContent:
    """Open the log at a URL.

    Only URLs on storages for logs are served, and none in the folder of a data set that
    ``visibility`` does not include.

    Raises:
        OutsideStorages: The URL is on no storage for logs, leads out of it, or names no file.
        NotFound: The log was deleted, or is in a folder that is not visible.
        NotAvailable: The storage cannot be read now.
    """
    async with context.database.connection() as connection:
        roots = (await list_roots(connection)).values()
        is_visible = await present_folders(connection, [url], visibility)
    place = storage_place(
        url, [root for root in roots if root.type is StorageType.LOGS], subject="log"
    )
    root = place.root.url
    if not is_visible:
        raise NotFound(_NO_LOG, url=url)
    file = context.reads.file(place.root, url)
    try:
        await _open(file)
    except FileMissing as error:
        if not await _is_storage_there(context.reads, root):
            raise NotAvailable(
                f"the DMS does not see its storage {root}: mount it there", url=url
            ) from error
        raise NotFound(_NO_LOG, url=url) from error
    except OutsideStorage as error:
        raise OutsideStorages("log", url, "leads out of its storage") from error
    except NotAFile as error:
        raise OutsideStorages("log", url, f"is not the URL of a log: {error.reason}") from error
    except StorageError as error:
        raise NotAvailable(f"the storage does not give the log: {error}", url=url) from error
    return FileContent(file, place.path.rpartition("/")[2], file.size, None)


async def pieces(content: FileContent, span: Span) -> AsyncGenerator[bytes, None]:
    """Yield the bytes of ``span``, and release the file at the end.

    The checksum of a whole file is compared. If it differs, the last piece is held back, so that
    the file does not look complete.

    Raises:
        StorageError: The file cannot be read, or is not as it was registered.
    """
    digest = (
        hashlib.sha256() if content.checksum is not None and span == Span(0, content.size) else None
    )
    try:
        place = span.start
        while place < span.end:
            piece = await content.file.run(
                partial(_piece, place=place, length=min(PIECE, span.end - place), digest=digest)
            )
            place += len(piece)
            if place == span.end and digest is not None:
                require_checksum(
                    content.file.url, digest.hexdigest(), expected_checksum=content.checksum
                )
            yield piece
    finally:
        content.file.release()


def is_folder_there(root: str) -> bool:
    """Return whether the folder of a storage exists; true for storages without a folder. Blocks."""
    folder = find_local_path(root)
    return folder is None or os.path.isdir(folder)


def require_checksum(url: str, actual: str, *, expected_checksum: str | None) -> None:
    """Check a SHA-256 digest against the expected checksum, if there is one.

    Raises:
        ChecksumMismatch: They differ.
    """
    if expected_checksum is not None and expected_checksum != f"sha256:{actual}":
        log.error("content.damaged", url=url, expected=expected_checksum, found=actual)
        raise ChecksumMismatch(url, expected=expected_checksum, actual=f"sha256:{actual}")


def _piece(reader: Reader, *, place: int, length: int, digest: "hashlib._Hash | None") -> bytes:
    data = reader.read(place, length)
    if len(data) < length:
        raise ChecksumMismatch(
            reader.url, expected=f"{reader.size} bytes", actual=f"{place + len(data)} bytes"
        )
    if digest is not None:
        digest.update(data)
    return data


async def _open(file: OpenFile) -> None:
    """Open a file; release it if it cannot be opened or the caller is cancelled."""
    try:
        await file.open()
    except BaseException:
        file.release()
        raise


async def _is_storage_there(reads: FileReads, root: str) -> bool:
    try:
        return await reads.run(root, lambda: is_folder_there(root))
    except StorageUnavailable:
        return False


async def _first_readable(
    reads: FileReads, file: FileCopies, places: Sequence[tuple[Root, str]]
) -> OpenFile:
    last: StorageError | None = None
    for root, url in places:
        candidate = reads.file(root, url)
        try:
            await _open(candidate)
        except StorageError as error:
            last = error
            continue
        if candidate.size == file.size:
            return candidate
        candidate.release()
        last = ChecksumMismatch(
            url, expected=f"{file.size} bytes", actual=f"{candidate.size} bytes"
        )
    log.error("content.not_readable", file=file.name, reason=str(last))
    raise NotAvailable(f"file {quoted(file.name)} cannot be read: {last}")
