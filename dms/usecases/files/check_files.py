"""Checks of files that are to be registered."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from stat import S_ISREG
from types import MappingProxyType

from dms.domain.places import StoragePlace
from dms.usecases.files.file_reads import FileReads
from dms.usecases.files.require_no_link import require_no_link
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.data.datasets import NewFile
from sluice.storage import StorageUnavailable, find_local_path
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

#: Faults of files, by name.
Faults = Mapping[str, str]
NO_FAULTS: Faults = MappingProxyType({})
#: A file, and the place where it is said to be.
_StatedFile = tuple[NewFile, StoragePlace]

#: Files that one call in a thread checks.
MAX_FILES_PER_CHECK = 200


async def check_files(
    reads: FileReads, files: Sequence[NewFile], places: Sequence[StoragePlace], *, verify: bool
) -> Faults:
    """Return what is wrong with files on file systems that are missing or have another size.

    Raises:
        OutsideStorages: A file is reached through a link in its storage.
        StorageDisabled: The folder of a storage has moved.
        NotAvailable: A storage does not answer.
    """
    by_storage: dict[str, list[_StatedFile]] = {}
    for file, place in zip(files, places, strict=True):
        by_storage.setdefault(place.root.url, []).append((file, place))
    faults: dict[str, str] = {}
    for url, claimed in by_storage.items():
        for start in range(0, len(claimed), MAX_FILES_PER_CHECK):
            try:
                faults |= await reads.run(
                    url,
                    partial(_check, claimed[start : start + MAX_FILES_PER_CHECK], verify=verify),
                )
            except StorageUnavailable as error:
                raise NotAvailable(f"the files cannot be checked: {error}") from error
    return faults


def _check(files: Sequence[_StatedFile], *, verify: bool) -> Faults:
    faults, plain = {}, set[str]()
    for file, place in files:
        if file.released:
            continue
        require_no_link(place, subject=f"file {quoted(file.name)}", plain=plain)
        path = find_local_path(file.url) if verify else None
        if path is not None and (fault := fault_at(path, file.size)) is not None:
            faults[file.name] = fault
    return faults


def fault_at(path: str, size: int) -> str | None:
    """Return what is wrong with a file that should have ``size`` bytes, or None. Blocks."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return "does not exist: write it before you register it"
    except OSError as error:
        return f"cannot be checked: {reason_of(error)}"
    if not S_ISREG(status.st_mode):
        return "is not a plain file"
    return None if status.st_size == size else f"has {status.st_size} bytes, not {size}"
