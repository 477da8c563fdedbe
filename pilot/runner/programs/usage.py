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


def resident_memory(leader: int) -> float:
    """Return the resident memory of a process and its descendants in MiB, 0 if it is gone.

    A page that several processes share counts for each of them.
    """
    return sum(map(_count_resident_pages, process_tree(leader))) * _PAGE / _MIB


def proportional_memory(leader: int) -> float:
    """Return the memory of a process and its descendants in MiB, 0 if it is gone.

    A page that these processes share counts once. The kernel visits each page, so this takes longer
    than ``resident_memory``.
    """
    return sum(map(_measure_proportional, process_tree(leader)))


def processor_time(leader: int) -> float:
    """Return the CPU seconds of a process and its descendants, including ended children."""
    ticks = 0
    for pid in process_tree(leader):
        with suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
            ticks += sum(map(int, file.read().rpartition(b")")[2].split()[11:15]))
    return ticks / _TICKS


def _count_resident_pages(pid: int) -> int:
    """Return the resident pages of a process.

    If its first thread has ended, the pages are read from another thread.
    """
    for thread in chain([pid], list_threads(pid)):
        with suppress(OSError), open(f"/proc/{thread}/statm", "rb") as file:
            if pages := int(file.read().split()[1]):
                return pages
    return 0


def _measure_proportional(pid: int) -> float:
    """Return the proportional memory of a process in MiB.

    If the kernel does not show it to this process, return the resident memory.
    """
    for thread in chain([pid], list_threads(pid)):
        with suppress(OSError), open(f"/proc/{thread}/smaps_rollup", "rb") as file:
            if match := _PROPORTIONAL.search(file.read()):
                return int(match[1]) / _KIB_PER_MIB
    return _count_resident_pages(pid) * _PAGE / _MIB


def process_tree(leader: int) -> Iterator[int]:
    """Yield the pids of a process and its descendants."""
    pids = [leader]
    for pid in pids:  # The list grows during the loop.
        yield pid
        for thread in list_threads(pid):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                pids += map(int, file.read().split())


def list_threads(pid: int) -> Iterator[int]:
    """Yield the thread ids of a process, none if it is gone."""
    with suppress(OSError):
        yield from map(int, os.listdir(f"/proc/{pid}/task"))
