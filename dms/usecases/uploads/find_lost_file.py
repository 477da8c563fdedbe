"""Find out why an upload fails repeatedly: a file may not be as it was registered."""

import os
from functools import partial
from uuid import UUID

from dms.db.claims import DatasetClaim
from dms.db.replicas import MissingFile, list_missing_files
from dms.db.storages import list_roots
from dms.domain.failures import ATTEMPTS_BEFORE_NOTICE, ATTEMPTS_BEFORE_NOTICE_ON_EMPTY_STORAGE
from dms.domain.places import Root
from dms.usecases.context import DmsContext
from dms.usecases.files.require_same_folder import require_same_folder
from sluice.storage import ChecksumMismatch, StorageError, StorageUnavailable, find_local_path
from sluice.text.visible_text import quoted

#: Files per page.
PAGE = 200


class UploadImpossible(StorageError):
    """The upload cannot succeed: a file is not as it was registered, or its place is taken."""


async def find_lost_file(
    context: DmsContext, claim: DatasetClaim, error: Exception
) -> UploadImpossible | None:
    """Return why the upload cannot succeed; None if another attempt may.

    A storage that does not answer has lost nothing. An empty storage may only be unmounted, so its
    files count as missing after more failures than those of a storage with files.

    Args:
        context: The context of the DMS.
        claim: The data set whose upload failed.
        error: The error of the upload. After a checksum mismatch, the file is not checked again.
    """
    if claim.failures + 1 < ATTEMPTS_BEFORE_NOTICE:
        return None
    target = claim.upload_storage_id or UUID(int=0), f"{claim.upload_url}/"
    after = (-1, "")
    while True:
        async with context.database.connection() as connection:
            files = await list_missing_files(
                connection, claim.uid, after=after, target=target, limit=PAGE
            )
            roots = await list_roots(connection)
        if not files:
            return None
        for file in files:
            if file.storage_id is None or file.path is None:
                return UploadImpossible(claim.name, f"no copy of file {quoted(file.name)} is left")
            root = roots[file.storage_id]
            url = root.build_url(file.path)
            if isinstance(error, ChecksumMismatch) and error.url == url:
                return UploadImpossible(
                    url, f"file {quoted(file.name)} has another content: {error.reason}"
                )
            look = partial(
                _fault, file, root, patient=claim.failures < ATTEMPTS_BEFORE_NOTICE_ON_EMPTY_STORAGE
            )
            try:
                fault = await context.reads.run(root.url, look)
            except StorageUnavailable:
                return None
            if fault is not None:
                return UploadImpossible(url, f"file {quoted(file.name)} {fault}")
        after = files[-1].seq, files[-1].name


def _fault(file: MissingFile, root: Root, *, patient: bool) -> str | None:
    """Return what is wrong with the file; None if nothing is. Blocks.

    Raises:
        StorageUnavailable: The storage has moved, or may not be mounted.
    """
    require_same_folder(root)
    path, folder = find_local_path(root.build_url(str(file.path))), find_local_path(root.url)
    if path is None or folder is None:
        return None
    if not os.path.isdir(folder) or (patient and not os.listdir(folder)):
        raise StorageUnavailable(root.url, "its folder is empty: is its file system mounted?")
    try:
        size = os.stat(path).st_size
    except FileNotFoundError:
        return "is not there"
    except OSError:
        return None
    return None if size == file.size else f"has {size} bytes, and was registered with {file.size}"
