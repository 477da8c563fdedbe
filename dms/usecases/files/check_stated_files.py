"""Check files that somebody says exist, before anything else relies on them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from dms.db.storages import list_roots
from dms.domain.places import OutsideStorages, StoragePlace, storage_place
from dms.usecases.context import DmsContext
from dms.usecases.files.check_files import MAX_FILES_PER_CHECK, fault_at
from dms.usecases.files.require_no_link import require_no_link
from sluice import storage
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.data.stated_files import StatedFile
from sluice.storage import StorageError, StorageUnavailable


async def check_stated_files(
    context: DmsContext, files: Sequence[StatedFile], *, content: bool
) -> list[str | None]:
    """Return what is wrong with each file, in order; None if nothing is.

    Args:
        context: The context of the DMS.
        files: The files to check.
        content: Read each file and compare its checksum. Otherwise only sizes are compared, on file
            systems only.

    Raises:
        NotAvailable: A storage does not answer.
    """
    async with context.database.connection() as connection:
        roots = list((await list_roots(connection)).values())
    faults: list[str | None] = [None] * len(files)
    by_storage = defaultdict[str, list[_StatedFile]](list)
    for number, file in enumerate(files):
        try:
            place = storage_place(file.url, roots, subject="it")
        except OutsideStorages as error:
            faults[number] = error.detail
        else:
            by_storage[place.root.url].append(_StatedFile(number, file, place))
    at_once = 1 if content else MAX_FILES_PER_CHECK
    for url, claimed in by_storage.items():
        for start in range(0, len(claimed), at_once):
            check = partial(_check_all, claimed[start : start + at_once], content=content)
            try:
                file_faults = await context.reads.run(url, check)
            except StorageUnavailable as error:
                raise NotAvailable(f"the files cannot be checked: {error}") from error
            for number, fault in file_faults.items():
                faults[number] = fault
    return faults


@dataclass(frozen=True, slots=True)
class _StatedFile:
    """A file, its index in the request, and the place where it is said to be."""

    number: int
    file: StatedFile
    place: StoragePlace


def _check_all(stated_files: Sequence[_StatedFile], *, content: bool) -> dict[int, str | None]:
    """Return what is wrong with each file, by index. Blocks."""
    plain = set[str]()
    return {
        stated.number: _check(stated.file, stated.place, content=content, plain=plain)
        for stated in stated_files
    }


def _check(file: StatedFile, place: StoragePlace, *, content: bool, plain: set[str]) -> str | None:
    try:
        require_no_link(place, subject="it", plain=plain)
    except OutsideStorages as error:
        return error.detail
    if not content:
        path = storage.find_local_path(file.url)
        return None if path is None else fault_at(path, file.size)
    try:
        storage.verify(file.url, checksum=file.checksum, size=file.size)
    except StorageUnavailable:
        raise
    except StorageError as error:
        return error.reason
    return None
