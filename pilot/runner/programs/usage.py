"""Memory and CPU time of a running job."""

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

_MIB = 1 << 20
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def group_memory(leader: int) -> float:
    """Return the resident memory of a process and its descendants in MiB, 0 if it is gone."""
    return sum(map(_resident, family(leader))) * _PAGE / _MIB


def processor_time(leader: int) -> float:
    """Return the CPU seconds of a process and its descendants, including ended children."""
    ticks = 0
    for pid in family(leader):
        with suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
            ticks += sum(map(int, file.read().rpartition(b")")[2].split()[11:15]))
    return ticks / _TICKS


def _resident(pid: int) -> int:
    """Return the resident pages of a process.

    If its first thread has ended, the pages are read from another thread.
    """
    for thread in chain([pid], threads(pid)):
        with suppress(OSError), open(f"/proc/{thread}/statm", "rb") as file:
            if pages := int(file.read().split()[1]):
                return pages
    return 0


def family(leader: int) -> Iterator[int]:
    """Yield the pids of a process and its descendants."""
    found = [leader]
    for pid in found:  # The list grows during the loop.
        yield pid
        for thread in threads(pid):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())


def threads(pid: int) -> Iterator[int]:
    """Yield the thread ids of a process, none if it is gone."""
    with suppress(OSError):
        yield from map(int, os.listdir(f"/proc/{pid}/task"))
