"""Open a file of a data set."""

from collections.abc import Sequence
from uuid import UUID

import structlog

from dms.db.datasets import find_dataset
from dms.db.files import FileReplicas, find_file_replicas
from dms.db.storages import list_roots
from dms.domain.errors import FileDeleted, UnknownDataset, UnknownFile
from dms.domain.places import Root
from dms.usecases.context import DmsContext
from dms.usecases.files.file_content import FileContent, open_or_release
from dms.usecases.files.file_reads import FileReads, OpenFile
from sluice.contracts.common.naming import own_name
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.common.states import DatasetState
from sluice.storage import ChecksumMismatch, StorageError
from sluice.text.visible_text import quoted

log = structlog.get_logger(__name__)


_DELETED_STATES = frozenset({DatasetState.DELETING, DatasetState.DELETED})


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
        file = await find_file_replicas(connection, uid, file_id)
        if file is None:
            raise UnknownFile(uid, file_id)
        roots = await list_roots(connection)
    if row.dataset.state in _DELETED_STATES or not file.replicas:
        raise FileDeleted(uid, file.name)
    places = [(roots[storage], roots[storage].build_url(path)) for storage, path in file.replicas]
    opened = await _first_readable(context.reads, file, places)
    return FileContent(opened, own_name(file.name), file.size, f"sha256:{file.checksum.hex()}")


async def _first_readable(
    reads: FileReads, file: FileReplicas, places: Sequence[tuple[Root, str]]
) -> OpenFile:
    last: StorageError | None = None
    for root, url in places:
        candidate = reads.file(root, url)
        try:
            await open_or_release(candidate)
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
