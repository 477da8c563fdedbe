"""Pack all files of data sets into one archive, which is streamed."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

import structlog
from pydantic import Field

from dms.db.dataset_lists import list_datasets_by_uid
from dms.db.files import ListedFile, has_name_clash, select_files
from dms.db.storages import list_roots
from dms.domain.errors import DatasetNotClosed, TooManyFiles, UnknownDataset
from dms.domain.places import Root
from dms.usecases.context import DmsContext
from dms.usecases.files.archives import ArchiveWriter, create_writer
from dms.usecases.files.file_content import PIECE, require_checksum
from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.common.base import Contract, FileName
from sluice.contracts.common.naming import own_name
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.data.datasets import ArchiveFormat, Dataset
from sluice.servicekit.database import Database
from sluice.storage import ChecksumMismatch, Reader, StorageError

log = structlog.get_logger(__name__)

#: Maximum number of files in a zip, whose directory stays in memory until the end.
MAX_ZIPPED = 50_000
#: Files read from the catalogue at once, and bytes collected before they are sent.
_PAGE, _GATHERED = 500, 128 * 1024


class ArchiveParts(Contract):
    """The parts of an archive.

    ``folder`` has the folder of each data set in the archive. With one data set it may be empty:
    the files are then at the top.
    """

    dataset_uid: list[UUID] = Field(
        min_length=1,
        max_length=100,
        description="The data sets whose files are sent, in this order.",
    )
    folder: list[FileName] = Field(
        [],
        max_length=100,
        description="The folder of each data set in the archive. Omit it for a single data set.",
    )
    format: ArchiveFormat = ArchiveFormat.ZIP
    name: FileName = Field("files", description="The name of the archive, without its suffix.")


@dataclass(frozen=True, slots=True)
class _Part:
    """A data set in an archive; ``plain``: the names that its tools gave are unique."""

    dataset: Dataset
    folder: str
    plain: bool

    def archive_path(self, file: ListedFile) -> str:
        name = own_name(file.name) if self.plain else file.name
        return f"{self.folder}/{name}" if self.folder else name


async def pack_archive(
    context: DmsContext, parts: ArchiveParts, visibility: Visibility = ALL
) -> AsyncGenerator[bytes, None]:
    """Return the content of an archive of closed data sets.

    The memory does not grow with the content, and only for a zip with the number of files. Reading
    raises ``StorageError`` if a file is not as it was registered; the caller must not finish the
    archive then.

    Raises:
        UnknownDataset: A data set does not exist.
        DatasetNotClosed: A data set is not closed, or is deleted.
        TooManyFiles: A zip archive cannot have this many files.
        Unprocessable: The numbers of data sets and folders differ.
    """
    datasets, folders = len(parts.dataset_uid), len(parts.folder)
    if folders != datasets and (folders or datasets > 1):
        counts = f"{format_count(datasets, 'data set')} and {format_count(folders, 'folder')}"
        raise Unprocessable(f"{counts}: give each data set one")
    async with context.database.connection() as connection:
        rows = await list_datasets_by_uid(connection, parts.dataset_uid, visibility)
        datasets_by_id = {row.dataset.uid: row.dataset for row in rows}
        for uid in parts.dataset_uid:
            if uid not in datasets_by_id:
                raise UnknownDataset(uid)
            if not datasets_by_id[uid].usable:
                raise DatasetNotClosed(uid, datasets_by_id[uid].name, datasets_by_id[uid].state)
        files = sum(datasets_by_id[uid].count_files for uid in parts.dataset_uid)
        if parts.format is ArchiveFormat.ZIP and files > MAX_ZIPPED:
            raise TooManyFiles(files, MAX_ZIPPED)
        packed = [
            _Part(datasets_by_id[uid], folder, not await has_name_clash(connection, uid))
            for uid, folder in zip(parts.dataset_uid, parts.folder or [""], strict=True)
        ]
        roots = await list_roots(connection)
    return _packed(context, packed, writer=create_writer(parts.format), roots=roots)


async def _packed(
    context: DmsContext,
    parts: Sequence[_Part],
    *,
    writer: ArchiveWriter,
    roots: Mapping[UUID, Root],
) -> AsyncGenerator[bytes, None]:
    for part in parts:
        async for file in _files(context.database, part.dataset.uid):
            root = roots[file.storage_id]
            source = context.reads.file(root, root.build_url(file.path))
            entry = _Entry(writer, file)
            try:
                await source.run(
                    partial(entry.begin, path=part.archive_path(file), time=part.dataset.timestamp)
                )
                while entry.remaining:
                    if writer.waiting >= _GATHERED:
                        yield writer.take()
                    await source.run(entry.copy)
                entry.end(source.url)
            except StorageError as error:
                log.error(
                    "archive.broken_off",
                    dataset=str(part.dataset.uid),
                    file=file.name,
                    reason=str(error),
                )
                raise
            finally:
                source.release()
            if writer.waiting >= _GATHERED:
                yield writer.take()
    await asyncio.to_thread(writer.finish)  # no file is read for it
    yield writer.take()


async def _files(database: Database, uid: UUID) -> AsyncIterator[ListedFile]:
    after = (-1, "")
    while True:
        async with database.connection() as connection:
            page = await select_files(connection, uid, after, limit=_PAGE)
        for file in page:
            yield file
        if len(page) < _PAGE:
            return
        after = page[-1].seq, page[-1].name


class _Entry:
    """A file on its way into the archive.

    Its methods raise ``StorageError`` if the file is not as it was registered.
    """

    def __init__(self, writer: ArchiveWriter, file: ListedFile) -> None:
        self._writer = writer
        self._file = file
        self._digest = hashlib.sha256()
        self.remaining = file.size

    def begin(self, reader: Reader, *, path: str, time: datetime) -> None:
        """Start the file with its first piece, so that a small file needs one call in a thread."""
        if reader.size != self._file.size:
            raise ChecksumMismatch(
                reader.url, expected=f"{self._file.size} bytes", actual=f"{reader.size} bytes"
            )
        self._writer.begin(path, self._file.size, time)
        self.copy(reader)

    def copy(self, reader: Reader) -> None:
        """Add the next piece, if there is one."""
        if not self.remaining:
            return
        length = min(PIECE, self.remaining)
        data = reader.read(self._file.size - self.remaining, length)
        if len(data) < length:
            raise ChecksumMismatch(
                reader.url, expected=f"{length} bytes more", actual=f"{len(data)}"
            )
        self._digest.update(data)
        self._writer.write(data)
        self.remaining -= length

    def end(self, url: str) -> None:
        """Compare the checksum, and end the file."""
        require_checksum(
            url, self._digest.hexdigest(), expected_checksum=f"sha256:{self._file.checksum.hex()}"
        )
        self._writer.end()
