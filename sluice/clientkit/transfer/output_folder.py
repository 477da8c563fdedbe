"""Checks and the reservation of the folder for results, before anything starts or is written."""

import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sluice.contracts.common.problems import Conflict, Unprocessable
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

#: The number of files that a message names.
_MAX_LISTED = 5


class FilesExist(Conflict):
    """Files exist that would or might be overwritten."""

    def __init__(self, folder: Path, paths: Iterable[Path]) -> None:
        existing_names = sorted(path.relative_to(folder).as_posix() for path in paths)
        others = (
            f" and {len(existing_names) - _MAX_LISTED} more"
            if len(existing_names) > _MAX_LISTED
            else ""
        )
        names = ", ".join(map(quoted, existing_names[:_MAX_LISTED])) + others
        super().__init__(
            f"--out {folder}: it has {names} already; name another folder, or overwrite with"
            " --force"
        )


def require_folder(folder: Path, *, empty: bool = False) -> None:
    """Check that files can be written to a folder, without creating it.

    Args:
        folder: The folder, which may not exist yet.
        empty: Whether the folder must be empty.

    Raises:
        Unprocessable: Files cannot be written there.
        FilesExist: The folder is not empty.
    """
    if empty and folder.is_dir() and (inside := list(folder.iterdir())):
        raise FilesExist(folder, inside)
    nearest = folder.absolute()
    while not os.path.lexists(nearest):
        nearest = nearest.parent
    if not nearest.is_dir():
        obstacle = "is a file" if nearest.exists() else "is a link to nothing"
        raise Unprocessable(f"--out {folder}: {nearest} {obstacle}; name a folder")
    try:
        # Only a try shows whether a file system is read-only. Access rights do not.
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise Unprocessable(
            f"--out {folder}: nothing can be written in {nearest}: {reason_of(error)}"
        ) from error


class FolderReserved(Conflict):
    """Another command that runs has reserved the folder for its outputs."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"--out {folder}: another command that runs will write its outputs there; name another"
            " folder, or wait until that command ends"
        )


@contextmanager
def reserve_folder(folder: Path, *, empty: bool) -> Iterator[None]:
    """Create a folder, and reserve it against other commands until the context ends.

    The reservation is a lock of the folder itself, so it ends with the process. Where folders
    cannot be locked, as on some network file systems, there is no reservation. A folder that was
    created and is still empty at the end is removed.

    Args:
        folder: The folder, which may not exist yet.
        empty: Whether the folder must be empty.

    Raises:
        Unprocessable: Files cannot be written there.
        FilesExist: The folder is not empty.
        FolderReserved: Another command has reserved the folder.
    """
    require_folder(folder, empty=empty)
    place = folder.absolute()
    created = [each for each in (place, *place.parents) if not each.exists()]
    descriptor = _lock_folder(folder)
    try:
        # The command that had reserved the folder until now may have written into it.
        require_folder(folder, empty=empty)
        yield
    finally:
        with suppress(OSError):
            for each in created:
                each.rmdir()
        os.close(descriptor)


def _lock_folder(folder: Path) -> int:
    """Create and lock a folder, and return the descriptor that holds the lock.

    Raises:
        FolderReserved: Another process has the lock.
        OSError: The folder cannot be created or opened.
    """
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise FolderReserved(folder) from error
        except OSError:
            return descriptor
        # The process that had the lock may have removed the folder after it was opened here.
        if folder.exists() and os.path.samestat(os.fstat(descriptor), folder.stat()):
            return descriptor
        os.close(descriptor)
