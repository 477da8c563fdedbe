"""Memory and CPU time of a running job."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

_MIB = 1 << 20
_KIB_PER_MIB = 1 << 10
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
#: Proportional memory in KiB, in which each of n processes counts 1/n of a page that they share.
_PROPORTIONAL = re.compile(rb"^Pss: +(\d+) kB$", re.MULTILINE)


def group_memory(leader: int) -> float:
    """Return the resident memory of a process and its descendants in MiB, 0 if it is gone.

    A page that several processes share counts for each of them.
    """
    return sum(map(_resident, family(leader))) * _PAGE / _MIB


def proportional_memory(leader: int) -> float:
    """Return the memory of a process and its descendants in MiB, 0 if it is gone.

    A page that these processes share counts once. The kernel visits each page, so this takes longer
    than ``group_memory``.
    """
    return sum(map(_proportional, family(leader)))


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


def _proportional(pid: int) -> float:
    """Return the proportional memory of a process in MiB.

    If the kernel does not show it to this process, return the resident memory.
    """
    for thread in chain([pid], threads(pid)):
        with suppress(OSError), open(f"/proc/{thread}/smaps_rollup", "rb") as file:
            if found := _PROPORTIONAL.search(file.read()):
                return int(found[1]) / _KIB_PER_MIB
    return _resident(pid) * _PAGE / _MIB


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
