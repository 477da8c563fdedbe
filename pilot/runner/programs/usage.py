"""How much memory and disk a job uses now."""

import os
from contextlib import suppress

_MIB = 1 << 20
_LEAST = 4096
_PAGE = os.sysconf("SC_PAGE_SIZE")


def group_memory(leader: int) -> float:
    """Resident memory in MiB of a process and its descendants; 0 when it is gone."""
    pages = 0
    family = [leader]
    for pid in family:  # which grows on the way
        with suppress(OSError):
            with open(f"/proc/{pid}/statm", "rb") as file:
                pages += int(file.read().split()[1])
            for thread in os.listdir(f"/proc/{pid}/task"):
                with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                    family += map(int, file.read().split())
    return pages * _PAGE / _MIB


def folder_size(roots: list[str]) -> float:
    """MiB on disk below some folders; links are not followed. Even what is empty takes a place."""
    total = 0
    folders = list(roots)
    while folders:
        try:
            with os.scandir(folders.pop()) as found:
                for entry in found:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    total += max(_LEAST, entry.stat(follow_symlinks=False).st_blocks * 512)
        except OSError:  # it has gone, or the tool keeps us out of it
            continue
    return total / _MIB
