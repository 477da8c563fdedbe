"""Looking at files that somebody wants to register."""

import os
from collections.abc import Mapping, Sequence
from stat import S_ISREG
from types import MappingProxyType

from dms.domain.places import Place
from dms.usecases.look_at_links import require_no_link
from sluice.contracts.datasets import NewFile
from sluice.storage import local_path

#: Name of a file → what is wrong with it.
Faults = Mapping[str, str]
NO_FAULTS: Faults = MappingProxyType({})


def look_at_files(files: Sequence[NewFile], places: Sequence[Place], *, verify: bool) -> Faults:
    """What is wrong with files on file systems that are not there, or not of the size given. Blocks.
    Raises ``OutsideStorages`` where one is reached through a link in its storage."""
    faults = {}
    for file, place in zip(files, places, strict=True):
        require_no_link(place, what=f"file {file.name!r}")
        path = local_path(file.url) if verify else None
        if path is not None and (fault := _fault(path, file.size)) is not None:
            faults[file.name] = fault
    return faults


def _fault(path: str, size: int) -> str | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return "is not there: write it before it is registered"
    except OSError as error:
        return f"cannot be looked at: {error.strerror}"
    if not S_ISREG(found.st_mode):
        return "is no plain file"
    return None if found.st_size == size else f"has {found.st_size} bytes, not {size}"
