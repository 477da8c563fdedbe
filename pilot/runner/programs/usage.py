"""How much memory a job uses now."""

import os
from collections.abc import Iterator
from contextlib import suppress

_MIB = 1 << 20
_PAGE = os.sysconf("SC_PAGE_SIZE")


def group_memory(leader: int) -> float:
    """Resident memory in MiB of a process and its descendants; 0 when it is gone."""
    pages = 0
    for pid in family(leader):
        with suppress(OSError), open(f"/proc/{pid}/statm", "rb") as file:
            pages += int(file.read().split()[1])
    return pages * _PAGE / _MIB


def family(leader: int) -> Iterator[int]:
    """Pids of a process and its descendants."""
    found = [leader]
    for pid in found:  # which grows on the way
        yield pid
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                    found += map(int, file.read().split())
