"""Deleted files that still use the disk of a job.

They exist while a process has them open or mapped.
"""

import os
import random
import stat
import time
from collections.abc import Iterator
from contextlib import suppress

from pilot.folders.file_size import MIN_FILE_BYTES
from pilot.runner.programs.usage import list_threads, process_tree

_MIB = 1 << 20
#: Seconds that a search for the files of a job may take.
_PATIENCE = 0.2


def unlinked_size(leader: int, root: str) -> float:
    """Return the size in MiB of deleted files that a process and its descendants use.

    Only files on the disk of folder ``root`` count. If there are too many, a random selection is
    counted.
    """
    sizes: dict[int, int] = {}
    end = time.monotonic() + _PATIENCE
    with suppress(OSError):
        disk = os.stat(root).st_dev
        for number, size in _list_files(leader, disk):
            sizes[number] = max(size, sizes.get(number, 0))
            if time.monotonic() > end:
                break
    return sum(sizes.values()) / _MIB


def _list_files(leader: int, disk: int) -> Iterator[tuple[int, int]]:
    """Yield inodes and sizes in bytes of the files.

    The generator yields (0, 0) at intervals, so that the caller can check its time limit.
    """
    # Each thread may have its own open files, and others may outlive the first.
    tasks = [(pid, thread) for pid in process_tree(leader) for thread in list_threads(pid)]
    random.shuffle(tasks)
    finished_pids: set[int] = set()
    for pid, thread in tasks:
        yield 0, 0
        for status in _list_open_files(thread):
            yield _measure(status, disk)
        if pid not in finished_pids:
            for mapped_file in _list_mapped_files(thread, disk):
                finished_pids.add(pid)
                yield mapped_file


def _measure(status: os.stat_result, disk: int) -> tuple[int, int]:
    if status.st_dev != disk or status.st_nlink or not stat.S_ISREG(status.st_mode):
        return 0, 0
    return status.st_ino, max(MIN_FILE_BYTES, status.st_blocks * 512)


def _list_open_files(thread: int) -> Iterator[os.stat_result]:
    folder = f"/proc/{thread}/fd"
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                yield os.stat(f"{folder}/{name}")


def _list_mapped_files(thread: int, disk: int) -> Iterator[tuple[int, int]]:
    """Yield an item for each memory mapping of a process that has memory."""
    with suppress(OSError), open(f"/proc/{thread}/maps", "rb") as parts:
        for part in parts:
            yield _measure_mapping(thread, part, disk) if part.endswith(b"(deleted)\n") else (0, 0)


def _measure_mapping(thread: int, part: bytes, disk: int) -> tuple[int, int]:
    """Return the inode and the size of a mapped file.

    ``part`` is a line of proc_pid_maps(5). If only root may look at the file, the mapped size
    counts.
    """
    addresses, _, _, device, number, _ = part.split(maxsplit=5)
    begin, end = (int(address, 16) for address in addresses.split(b"-"))
    try:
        return _measure(os.stat(f"/proc/{thread}/map_files/{begin:x}-{end:x}"), disk)
    except PermissionError:
        major, minor = (int(half, 16) for half in device.split(b":"))
        return (int(number), end - begin) if os.makedev(major, minor) == disk else (0, 0)
    except FileNotFoundError:  # The mapping has gone.
        return 0, 0
