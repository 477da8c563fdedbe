"""How much of the disk a job uses now."""

import math
import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from pilot.folders.openat2 import look_beneath

_MIB = 1 << 20
_LEAST = 4096
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
#: Characters of a path, from which on it begins anew at what it has come to: the kernel takes no
#: more than 4096 bytes.
_LONG = 800
#: Folders that are kept open at most while what is below them is looked at, for short paths.
_HELD = 64
#: Looks for what has another name than it had a moment ago.
_TRIES = 20


def folder_size(root: str, most: float = math.inf) -> float:
    """MiB on disk below a folder, however deep and closed what lies in it; links are not followed.
    Even what is empty takes a place. Where it is more than ``most``, it may be still more."""
    total = 0
    with suppress(OSError):  # it has gone
        for size in _sizes(os.open(root, _FOLDER)):
            total += size
            if total > most * _MIB:
                break
    return total / _MIB


def _sizes(root: int) -> Iterator[int]:
    """Bytes of everything below an open folder, which is closed in the end."""
    #: Folders still to be looked into, by their path from an open one, and their number; None: that
    #: is to be closed.
    waiting: list[tuple[int, str | None, int]] = [(root, None, 0), (root, "", 0)]
    linked: set[tuple[int, int]] = set()
    held = 1
    try:
        while waiting:
            place, path, number = waiting.pop()
            if path is None:
                os.close(place)
                held -= 1
                continue
            try:
                folder = _opened(place, path, number) if path else place
            except OSError:  # it has gone
                continue
            if path and (held < _HELD or len(path) > _LONG):
                waiting.append((folder, None, 0))
                held, place, path = held + 1, folder, ""
            try:
                for name, status in _entries(folder):
                    if stat.S_ISDIR(status.st_mode):
                        waiting.append((place, f"{path}{name}/", status.st_ino))
                    elif status.st_nlink > 1 and _met(status, linked):
                        continue
                    yield max(_LEAST, status.st_blocks * 512)
            finally:
                if place != folder:
                    os.close(folder)
    finally:
        for place, path, _ in waiting:
            if path is None:
                os.close(place)


def _met(status: os.stat_result, before: set[tuple[int, int]]) -> bool:
    """Is it among those met before? It is from here on."""
    known = len(before)
    before.add((status.st_dev, status.st_ino))
    return len(before) == known


def _entries(folder: int) -> Iterator[tuple[str, os.stat_result]]:
    """Of an open folder. What has got another name before it is looked at is looked for again, and
    what the tool has closed is opened to its owner."""
    wanted: set[int] | None = None
    for _ in range(_TRIES):
        missed: set[int] = set()
        with os.scandir(folder) as found:
            for entry in found:
                if wanted is not None and entry.inode() not in wanted:
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError as error:
                    if isinstance(error, PermissionError):
                        with suppress(OSError):  # of somebody else
                            _unlock(folder)
                    missed.add(entry.inode())
                    continue
                yield entry.name, status
        if not missed:
            return
        wanted = missed


def _opened(place: int, path: str, number: int) -> int:
    """A folder below an open one, also where it has got another name in its own. Raises
    ``OSError``."""
    for _ in range(_TRIES):
        try:
            folder = _open(place, path)
            if os.fstat(folder).st_ino == number:
                return folder
            os.close(folder)
        except (FileNotFoundError, NotADirectoryError):
            pass
        path = _path_now(place, path, number)
    raise FileNotFoundError(path)


def _path_now(place: int, path: str, number: int) -> str:
    """Raises ``OSError``."""
    above = path[: path.rstrip("/").rfind("/") + 1]
    folder = _open(place, above)
    try:
        with os.scandir(folder) as found:
            for entry in found:
                if entry.inode() == number:
                    return f"{above}{entry.name}/"
    finally:
        os.close(folder)
    raise FileNotFoundError(path)


def _open(place: int, path: str) -> int:
    """A folder below an open one. It is opened to its owner where the tool has closed it. Raises
    ``OSError``."""
    try:
        return os.open(path or ".", _FOLDER, dir_fd=place)
    except PermissionError:
        closed = look_beneath(place, path)
        if closed is None:
            raise
        try:
            _unlock(closed)
            here = f"/proc/self/fd/{closed}"
            return os.open(here, _FOLDER & ~os.O_NOFOLLOW)
        finally:
            os.close(closed)


def _unlock(folder: int) -> None:
    """Opens a folder to its owner. Raises ``OSError``."""
    here = f"/proc/self/fd/{folder}"
    os.chmod(here, stat.S_IMODE(os.stat(here).st_mode) | stat.S_IRWXU)
