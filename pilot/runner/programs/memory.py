"""Keeping a tool within its memory: by the kernel, for all its processes together, where their slot
has a group of its own; else by looking how much they use, with a brake on each of them."""

import os
import re
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from typing import Protocol

import structlog

from pilot.node.memory_groups import MemoryGroups, limit_file, slot_group
from pilot.runner.programs.running import Running
from pilot.runner.programs.usage import group_memory

log = structlog.get_logger(__name__)

_MIB = 1 << 20
#: The kernel counts in pieces, of at most so many bytes.
_CHARGED = _MIB
#: MiB of files of earlier jobs that may stay in memory beside a tool.
_CACHE = 256
#: A process may have data for this many times the job's memory, and so many MiB more, and a core
#: for stacks of threads: programs reserve what they never touch.
_SPACE, _SPACE_MORE, _SPACE_A_CORE = 2, 1024, 64
#: Lines of the kernel's files about a group that are read here.
_COUNTED = re.compile(
    rb"^(anon|rss|shmem|file|cache|file_dirty|dirty|oom|oom_kill) (\d+)$", re.MULTILINE
)
#: What programs say whose memory was refused.
_REFUSED = re.compile(
    r"MemoryError|OutOfMemoryError|std::bad_alloc|ENOMEM|[Cc]annot allocate"
    r" (?:memory|vector)|memory exhausted"
)


class OutOfMemory(Enum):
    """Why a tool was ended, or has to be: its own limit, or nothing left of the node's memory."""

    LIMIT = auto()
    NODE = auto()


class Memory(Protocol):
    """Of the tools of a slot, one after the other. ``mib``: all that one may use; 0: no limit."""

    #: Seconds between two looks at what a tool uses.
    pause: float
    #: Bytes of data that each of its processes may have; None: any. Known once it is open.
    brake: int | None

    def open(self, mib: float, inputs: float, *, held: float = 0.0) -> None:
        """Before a tool is started. ``inputs``: MiB of its files, which it may find in memory.
        ``held``: MiB that a tool has already which stays, as they were told by ``used``."""

    def started(self, running: Running) -> None: ...

    def used(self) -> float:
        """MiB, by the tool and what it has started, now."""
        ...

    def over(self, used: float) -> OutOfMemory | None:
        """Until ``close``; afterwards None."""
        ...

    def refused(self, said: str) -> bool:
        """Has the last tool, which failed by itself, done so for want of memory? ``said``: the end
        of its standard error."""
        ...

    def close(self) -> None:
        """After it has ended."""


class GroupMemory:
    """This process moves to a group of its own, with all that it starts from here on. Raises
    ``OSError``.

    What it uses itself, as the tool starts, comes on top of the limit; so do files that the kernel
    keeps in memory, as far as they are the tool's inputs, which it would have to read again, or
    have still to be written.
    """

    pause = 0.25
    brake: int | None = None

    def __init__(self, groups: MemoryGroups) -> None:
        parent = Path(groups.folder)
        folder = parent / slot_group(os.getpid())
        for other in parent.glob(slot_group("*")):
            # A slot that lives may be about to enter its own.
            if (
                other == folder
                or not Path(f"/proc/{other.name.removeprefix(slot_group(''))}").exists()
            ):
                with suppress(OSError):  # what a dead one started has not ended yet
                    other.rmdir()
        folder.mkdir()
        (folder / "cgroup.procs").write_text(str(os.getpid()))
        self._second = groups.version == 2
        self._limit = _opened(folder / limit_file(groups), os.O_WRONLY)
        self._total = None if self._second else _if_there(folder / "memory.memsw.limit_in_bytes")
        self._usage = _opened(
            folder / ("memory.current" if self._second else "memory.usage_in_bytes")
        )
        self._stat = _opened(folder / "memory.stat")
        self._kills = _opened(folder / ("memory.events" if self._second else "memory.oom_control"))
        self._most_used = (
            None if self._second else _opened(folder / "memory.max_usage_in_bytes", os.O_RDWR)
        )
        self._reclaim = _if_there(folder / "memory.reclaim")
        with suppress(OSError):  # a kernel without swap
            (folder / ("memory.swap.max" if self._second else "memory.swappiness")).write_text("0")
        self._before, self._kills_before, self._limits_before = 0, 0, 0
        self._mib, self._most, self._closed = 0.0, 0, True

    def open(self, mib: float, inputs: float, *, held: float = 0.0) -> None:
        usage, stat = self._number(self._usage), self._numbers(self._stat)
        self._before = self._taken(stat) - int(held * _MIB)
        kills = self._numbers(self._kills)
        self._kills_before, self._limits_before = kills.get("oom_kill", 0), kills.get("oom", 0)
        self._mib, self._closed = mib, False
        if not mib:
            return
        files = stat.get("file", stat.get("cache", 0)) - stat.get("shmem", 0)
        clean = max(0, min(files - stat.get("file_dirty", stat.get("dirty", 0)), usage))
        most = usage - clean + int((mib - held + min(clean / _MIB, inputs + _CACHE)) * _MIB)
        if usage > most:
            self._let_go(usage - most, most)
            most = max(most, self._number(self._usage))
        self._set(most)
        self._most = most
        if self._most_used is not None:
            os.pwrite(self._most_used, b"0", 0)

    def started(self, running: Running) -> None:
        """The group has it."""

    def used(self) -> float:
        return max(0.0, (self._taken(self._numbers(self._stat)) - self._before) / _MIB)

    def over(self, used: float) -> OutOfMemory | None:
        if self._closed:
            return None
        if self._killed() > self._kills_before:
            return OutOfMemory.LIMIT if self._mib and self._reached() else OutOfMemory.NODE
        return OutOfMemory.LIMIT if 0 < self._mib < used else None

    def refused(self, said: str) -> bool:
        return False

    def close(self) -> None:
        if self._mib:
            self._set(None)
            self._mib = 0.0
        self._closed = True

    def _set(self, most: int | None) -> None:
        """In an order in which the one is never above the other."""
        text = (
            b"max" if most is None and self._second else str(-1 if most is None else most).encode()
        )
        files = [self._limit] if self._total is None else [self._limit, self._total]
        for file in reversed(files) if most is None else files:
            with suppress(OSError):  # below what is in use by now; then it is looked at alone
                os.pwrite(file, text, 0)

    def _let_go(self, amount: int, most: int) -> None:
        with suppress(OSError):
            if self._reclaim is not None:
                os.pwrite(self._reclaim, str(amount).encode(), 0)
            elif not self._second:
                os.pwrite(self._limit, str(most).encode(), 0)

    def _taken(self, stat: dict[str, int]) -> int:
        """Bytes that are no copies of files: of processes, and of what they share, files in a file
        system in memory among it."""
        return stat.get("anon", stat.get("rss", 0)) + stat.get("shmem", 0)

    def _killed(self) -> int:
        """Processes of the group, for want of memory."""
        return self._numbers(self._kills).get("oom_kill", 0)

    def _reached(self) -> bool:
        """Was the limit, or was the memory of those around it short before?"""
        if self._most_used is None:
            return self._numbers(self._kills).get("oom", 0) > self._limits_before
        return self._number(self._most_used) > self._most - _CHARGED

    def _number(self, file: int) -> int:
        return int(os.pread(file, 64, 0))

    def _numbers(self, file: int) -> dict[str, int]:
        found = _COUNTED.findall(os.pread(file, 1 << 14, 0))
        return {name.decode(): int(value) for name, value in found}


class ProcessMemory:
    """Looks often; each process can have data for little more than twice the limit, whatever it
    does between two looks."""

    pause = 0.1

    def __init__(self) -> None:
        self._mib = 0.0
        self._running: Running | None = None
        self.brake: int | None = None

    def open(self, mib: float, inputs: float, *, held: float = 0.0) -> None:
        self._mib = mib
        more = _SPACE_MORE + _SPACE_A_CORE * (os.cpu_count() or 1)
        self.brake = int((_SPACE * mib + more) * _MIB) if mib else None

    def started(self, running: Running) -> None:
        self._running = running

    def used(self) -> float:
        if self._running is None:
            return 0.0
        return max(0.0, group_memory(self._running.root) - self._running.beside)

    def over(self, used: float) -> OutOfMemory | None:
        return OutOfMemory.LIMIT if 0 < self._mib < used else None

    def refused(self, said: str) -> bool:
        return self.brake is not None and _REFUSED.search(said) is not None

    def close(self) -> None:
        self._mib = 0.0


def memory_of(groups: MemoryGroups | None) -> Memory:
    if groups is not None:
        try:
            return GroupMemory(groups)
        except OSError as error:  # somebody has taken the pilot's group away
            log.error("memory.no_group", group=groups.folder, reason=error.strerror)
    return ProcessMemory()


def _opened(path: Path, flags: int = os.O_RDONLY) -> int:
    return os.open(path, flags | os.O_CLOEXEC)


def _if_there(path: Path) -> int | None:
    """For writing."""
    with suppress(FileNotFoundError):
        return _opened(path, os.O_WRONLY)
    return None
