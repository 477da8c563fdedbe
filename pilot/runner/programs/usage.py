"""How much memory a job uses now."""

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

_MIB = 1 << 20
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def group_memory(leader: int) -> float:
    """Resident memory in MiB of a process and its descendants; 0 when it is gone."""
    return sum(map(_resident, family(leader))) * _PAGE / _MIB


def processor_time(leader: int) -> float:
    """Seconds that a process, its descendants and those of them that have ended have had."""
    ticks = 0
    for pid in family(leader):
        with suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
            ticks += sum(map(int, file.read().rpartition(b")")[2].split()[11:15]))
    return ticks / _TICKS


def _resident(pid: int) -> int:
    """Pages of a process. Its first thread has none once that has ended; others may go on."""
    for thread in chain([pid], threads(pid)):
        with suppress(OSError), open(f"/proc/{thread}/statm", "rb") as file:
            if pages := int(file.read().split()[1]):
                return pages
    return 0


def family(leader: int) -> Iterator[int]:
    """Pids of a process and its descendants."""
    found = [leader]
    for pid in found:  # which grows on the way
        yield pid
        for thread in threads(pid):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())


def threads(pid: int) -> Iterator[int]:
    """Numbers of a process's threads; none when it is gone."""
    with suppress(OSError):
        yield from map(int, os.listdir(f"/proc/{pid}/task"))
