"""Open the log of an attempt."""

import os

import structlog

from dms.db.storages import list_roots
from dms.domain.places import OutsideStorages, storage_place
from dms.usecases.context import DmsContext
from dms.usecases.datasets.foreign_files import are_folders_present
from dms.usecases.files.file_content import FileContent, open_or_release
from dms.usecases.files.file_reads import FileReads
from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.common.problems import NotAvailable, NotFound
from sluice.contracts.common.states import StorageType
from sluice.storage import (
    FileMissing,
    NotAFile,
    OutsideStorage,
    StorageError,
    StorageUnavailable,
    find_local_path,
)

log = structlog.get_logger(__name__)


_NO_LOG = "the log has been deleted"


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
        is_visible = await are_folders_present(connection, [url], visibility)
    place = storage_place(
        url, [root for root in roots if root.type is StorageType.LOGS], subject="log"
    )
    root = place.root.url
    if not is_visible:
        raise NotFound(_NO_LOG, url=url)
    file = context.reads.file(place.root, url)
    try:
        await open_or_release(file)
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


def _is_folder_there(root: str) -> bool:
    """Return whether the folder of a storage exists; true for storages without a folder. Blocks."""
    folder = find_local_path(root)
    return folder is None or os.path.isdir(folder)


async def _is_storage_there(reads: FileReads, root: str) -> bool:
    try:
        return await reads.run(root, lambda: _is_folder_there(root))
    except StorageUnavailable:
        return False
