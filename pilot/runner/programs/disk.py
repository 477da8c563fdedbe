"""Disk usage of a running job."""

import math
import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from pilot.folders.file_size import MIN_FILE_BYTES
from pilot.folders.openat2 import open_beneath

_MIB = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
#: Length of a path at which a new folder is opened. The kernel accepts paths of at most 4096 bytes.
_LONG = 800
#: Maximum number of folders that are kept open to shorten paths.
_MAX_OPEN_FOLDERS = 64
#: Number of searches for a file that was renamed meanwhile.
_TRIES = 20


def folder_size(root: str, maximum: float = math.inf) -> float:
    """Return the size on disk of a folder in MiB.

    Depth and permissions do not matter, and links are not followed. Empty files count too. A result
    above ``maximum`` is a lower bound.
    """
    total = 0
    with suppress(OSError):  # The folder has gone.
        for size in _list_sizes(os.open(root, _FOLDER)):
            total += size
            if total > maximum * _MIB:
                break
    return total / _MIB


def _list_sizes(root: int) -> Iterator[int]:
    """Yield the sizes in bytes of everything below an open folder, and close the folder."""
    #: Folders to read: an open folder, the path from it, and the inode. The path None means that
    #: the folder has to be closed.
    stack: list[tuple[int, str | None, int]] = [(root, None, 0), (root, "", 0)]
    linked: set[tuple[int, int]] = set()
    open_folders = 1
    try:
        while stack:
            place, path, number = stack.pop()
            if path is None:
                os.close(place)
                open_folders -= 1
                continue
            try:
                folder = _open_moved(place, path, number) if path else place
            except OSError:  # The folder has gone.
                continue
            if path and (open_folders < _MAX_OPEN_FOLDERS or len(path) > _LONG):
                stack.append((folder, None, 0))
                open_folders, place, path = open_folders + 1, folder, ""
            try:
                for name, status in _list_entries(folder):
                    if stat.S_ISDIR(status.st_mode):
                        stack.append((place, f"{path}{name}/", status.st_ino))
                    elif status.st_nlink > 1 and _is_repeated(status, linked):
                        continue
                    yield max(MIN_FILE_BYTES, status.st_blocks * 512)
            finally:
                if place != folder:
                    os.close(folder)
    finally:
        for place, path, _ in stack:
            if path is None:
                os.close(place)


def _is_repeated(status: os.stat_result, before: set[tuple[int, int]]) -> bool:
    """Return whether a file was met before, and record it."""
    count = len(before)
    before.add((status.st_dev, status.st_ino))
    return len(before) == count


def _list_entries(folder: int) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the entries of an open folder.

    Entries that are renamed meanwhile are searched again. If the tool has removed permissions, the
    owner gets them back.
    """
    retries: set[int] | None = None
    for _ in range(_TRIES):
        missed: set[int] = set()
        with os.scandir(folder) as entries:
            for entry in entries:
                if retries is not None and entry.inode() not in retries:
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError as error:
                    if isinstance(error, PermissionError):
                        with suppress(OSError):  # Somebody else owns the folder.
                            _unlock(folder)
                    missed.add(entry.inode())
                    continue
                yield entry.name, status
        if not missed:
            return
        retries = missed


def _open_moved(place: int, path: str, number: int) -> int:
    """Open a folder below an open folder, even if it was renamed in its parent.

    Raises:
        OSError: The folder has gone or cannot be opened.
    """
    for _ in range(_TRIES):
        try:
            folder = _open(place, path)
            if os.fstat(folder).st_ino == number:
                return folder
            os.close(folder)
        except (FileNotFoundError, NotADirectoryError):
            pass
        path = _find_path(place, path, number)
    raise FileNotFoundError(path)


def _find_path(place: int, path: str, number: int) -> str:
    """Return the current path of a folder with inode ``number``.

    Raises:
        OSError: The folder has gone.
    """
    parent = path[: path.rstrip("/").rfind("/") + 1]
    folder = _open(place, parent)
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.inode() == number:
                    return f"{parent}{entry.name}/"
    finally:
        os.close(folder)
    raise FileNotFoundError(path)


def _open(place: int, path: str) -> int:
    """Open a folder below an open folder, and restore the owner's permissions if necessary.

    Raises:
        OSError: The folder cannot be opened.
    """
    try:
        return os.open(path or ".", _FOLDER, dir_fd=place)
    except PermissionError:
        closed = open_beneath(place, path)
        if closed is None:
            raise
        try:
            _unlock(closed)
            proc_path = f"/proc/self/fd/{closed}"
            return os.open(proc_path, _FOLDER & ~os.O_NOFOLLOW)
        finally:
            os.close(closed)


def _unlock(folder: int) -> None:
    """Give the owner all permissions of a folder.

    Raises:
        OSError: The mode could not be changed.
    """
    path = f"/proc/self/fd/{folder}"
    os.chmod(path, stat.S_IMODE(os.stat(path).st_mode) | stat.S_IRWXU)
