"""Looking at files that somebody says are there, before anything follows from it."""

from collections.abc import Sequence
from functools import partial

from dms.db.storages import all_roots
from dms.domain.places import OutsideStorages, StoragePlace, storage_place
from dms.usecases.check_files import fault_at
from dms.usecases.check_links import require_no_link
from dms.usecases.context import DmsContext
from sluice import storage
from sluice.contracts.datasets import ClaimedFile
from sluice.contracts.problems import NotAvailable
from sluice.storage import StorageError, StorageUnavailable


async def look_at_files(
    context: DmsContext, files: Sequence[ClaimedFile], *, content: bool
) -> list[str | None]:
    """Precondition: none. ``content``: each is read whole, and compared with its checksum; else its
    size is, as far as it lies on a file system. Effect: none. Messages: none. What is wrong with
    each of them, in their order; None: nothing. Raises ``NotAvailable`` where a storage does not
    answer."""
    async with context.database.connection() as connection:
        roots = list((await all_roots(connection)).values())
    faults: list[str | None] = []
    for file in files:
        try:
            place = storage_place(file.url, roots, subject="it")
            look = partial(_look, file, place, content=content)
            faults.append(await context.reads.run(place.root.url, look))
        except OutsideStorages as error:
            faults.append(error.detail)
        except StorageUnavailable as error:
            raise NotAvailable(f"the files cannot be looked at: {error}") from error
    return faults


def _look(file: ClaimedFile, place: StoragePlace, *, content: bool) -> str | None:
    require_no_link(place, subject="it")
    if not content:
        path = storage.local_path(file.url)
        return None if path is None else fault_at(path, file.size)
    try:
        storage.verify(file.url, checksum=file.checksum, size=file.size)
    except StorageUnavailable:
        raise
    except StorageError as error:
        return error.reason
    return None
