"""Files that a job has on the disk and that no folder has: they last as long as a process has them
open, or in its memory."""

import os
import random
import stat
import time
from collections.abc import Iterator
from contextlib import suppress

from pilot.runner.programs.usage import family, threads

_MIB = 1 << 20
_LEAST = 4096
#: Seconds that looking at the files of a job may take.
_PATIENCE = 0.2


def nameless_size(leader: int, root: str) -> float:
    """MiB on the disk of folder ``root`` of files without a name, that a process and its
    descendants have open or mapped. Of very many, some are left out, others each time."""
    sizes: dict[int, int] = {}
    end = time.monotonic() + _PATIENCE
    with suppress(OSError):
        disk = os.stat(root).st_dev
        for number, size in _nameless(leader, disk):
            sizes[number] = max(size, sizes.get(number, 0))
            if time.monotonic() > end:
                break
    return sum(sizes.values()) / _MIB


def _nameless(leader: int, disk: int) -> Iterator[tuple[int, int]]:
    """Numbers and bytes of files; (0, 0) now and then, so that nobody waits for long."""
    # Each thread may have files of its own, and others may outlive the first.
    tasks = [(pid, thread) for pid in family(leader) for thread in threads(pid)]
    random.shuffle(tasks)
    looked_into: set[int] = set()
    for pid, thread in tasks:
        yield 0, 0
        for status in _open_files(thread):
            yield _size(status, disk)
        if pid not in looked_into:
            for found in _mapped_files(thread, disk):
                looked_into.add(pid)
                yield found


def _size(status: os.stat_result, disk: int) -> tuple[int, int]:
    if status.st_dev != disk or status.st_nlink or not stat.S_ISREG(status.st_mode):
        return 0, 0
    return status.st_ino, max(_LEAST, status.st_blocks * 512)


def _open_files(thread: int) -> Iterator[os.stat_result]:
    folder = f"/proc/{thread}/fd"
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                yield os.stat(f"{folder}/{name}")


def _mapped_files(thread: int, disk: int) -> Iterator[tuple[int, int]]:
    """Something for each part of a process's memory, if it has any left."""
    with suppress(OSError), open(f"/proc/{thread}/maps", "rb") as parts:
        for part in parts:
            yield _mapped(thread, part, disk) if part.endswith(b"(deleted)\n") else (0, 0)


def _mapped(thread: int, part: bytes, disk: int) -> tuple[int, int]:
    """``part``: a line of proc_pid_maps(5). Where only root may look at the file, it counts as far
    as it is mapped."""
    addresses, _, _, device, number, _ = part.split(maxsplit=5)
    begin, end = (int(address, 16) for address in addresses.split(b"-"))
    try:
        return _size(os.stat(f"/proc/{thread}/map_files/{begin:x}-{end:x}"), disk)
    except PermissionError:
        major, minor = (int(half, 16) for half in device.split(b":"))
        return (int(number), end - begin) if os.makedev(major, minor) == disk else (0, 0)
    except FileNotFoundError:  # it has gone
        return 0, 0
