"""How much of the disk a job uses now."""

import math
import os
import random
import stat
import time
from collections.abc import Iterator
from contextlib import suppress

from pilot.folders.openat2 import look_beneath
from pilot.runner.programs.usage import family

_MIB = 1 << 20
_LEAST = 4096
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
#: Characters of a path, from which on it begins anew at what it has come to: the kernel takes no
#: more than 4096 bytes.
_LONG = 800
#: Seconds that looking at the open files of a job may take.
_PATIENCE = 0.2


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
    #: Folders still to be looked into, by their path from an open one; None: that is to be closed.
    waiting: list[tuple[int, str | None]] = [(root, None), (root, "")]
    try:
        while waiting:
            place, path = waiting.pop()
            if path is None:
                os.close(place)
                continue
            with suppress(OSError):  # it has gone
                folder = _opened(place, path)
                if len(path) > _LONG:
                    waiting.append((folder, None))
                    place, path = folder, ""
                try:
                    for name, status in _entries(folder):
                        if stat.S_ISDIR(status.st_mode):
                            waiting.append((place, f"{path}{name}/"))
                        yield max(_LEAST, status.st_blocks * 512)
                finally:
                    if place != folder:
                        os.close(folder)
    finally:
        for place, path in waiting:
            if path is None:
                os.close(place)


def _entries(folder: int) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as found:
        for entry in found:
            with suppress(OSError):  # it has gone
                yield entry.name, entry.stat(follow_symlinks=False)


def _opened(place: int, path: str) -> int:
    """A folder below an open one. It is opened to its owner where the tool has closed it. Raises
    ``OSError``."""
    try:
        return os.open(path or ".", _FOLDER, dir_fd=place)
    except PermissionError:
        closed = look_beneath(place, path)
        if closed is None:
            raise
        try:
            here = f"/proc/self/fd/{closed}"
            os.chmod(here, stat.S_IMODE(os.stat(here).st_mode) | stat.S_IRWXU)
            return os.open(here, _FOLDER & ~os.O_NOFOLLOW)
        finally:
            os.close(closed)


def nameless_size(leader: int, root: str) -> float:
    """MiB on the disk of folder ``root`` of files without a name, that a process and its
    descendants have open. Of very many, some are left out, others each time."""
    sizes: dict[int, int] = {}
    end = time.monotonic() + _PATIENCE
    with suppress(OSError):
        disk = os.stat(root).st_dev
        processes = list(family(leader))
        random.shuffle(processes)
        for pid in processes:
            for status in _open_files(pid):
                if status.st_dev == disk and not status.st_nlink and stat.S_ISREG(status.st_mode):
                    sizes[status.st_ino] = max(_LEAST, status.st_blocks * 512)
                if time.monotonic() > end:
                    return sum(sizes.values()) / _MIB
    return sum(sizes.values()) / _MIB


def _open_files(pid: int) -> Iterator[os.stat_result]:
    folder = f"/proc/{pid}/fd"
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                yield os.stat(f"{folder}/{name}")
