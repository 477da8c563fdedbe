"""Memory limit of tools.

If the slot has a control group, the kernel limits all processes of a tool together. Otherwise their
usage is polled, and each process has its own limit.
"""

import os
import re
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from typing import Protocol

import structlog

from pilot.isolation.node.memory_groups import ControlGroupSettings, limit_file, slot_group
from pilot.runner.programs.running import RunningProgram
from pilot.runner.programs.usage import proportional_memory, resident_memory
from sluice.text.os_errors import reason_of

log = structlog.get_logger(__name__)

_MIB = 1 << 20
#: The kernel counts memory in steps of at most this many bytes.
_MAX_STEP = _MIB
#: MiB of cached files of earlier jobs that may stay in memory beside a tool.
_CACHE = 256
#: Limit of a process's data: a multiple of the job's memory, plus MiB, plus MiB for each core for
#: stacks of threads. Programs reserve memory that they never touch.
_SPACE, _SPACE_MORE, _SPACE_A_CORE = 2, 1024, 64
#: Lines of the kernel's files about a group that are used here.
_COUNTERS = re.compile(
    rb"^(anon|rss|shmem|file|cache|file_dirty|dirty|oom|oom_kill) (\d+)$", re.MULTILINE
)
#: Messages of programs that were refused memory.
_REFUSAL = re.compile(
    r"MemoryError|OutOfMemoryError|std::bad_alloc|ENOMEM|[Cc]annot allocate"
    r" (?:memory|vector)|memory exhausted"
)


class OutOfMemory(Enum):
    """The reason why a tool must end: its own limit, or the node is out of memory."""

    LIMIT = auto()
    NODE = auto()


class Memory(Protocol):
    """Memory limit of a slot's tools, one after the other.

    ``mib`` is the limit of a tool in MiB; 0 means no limit.
    """

    #: Seconds between two checks of a tool's usage.
    pause: float
    #: Limit in bytes for the data of each process, or None. It is set by ``open``.
    data_limit: int | None

    def open(self, mib: float, inputs: float, *, warm_memory: float = 0.0) -> None:
        """Set the limit before a tool is started.

        ``inputs`` is the size of its files in MiB, which may be cached. ``warm_memory`` is the
        memory in MiB that a warm worker already has, as ``used`` returned it.
        """

    def set_running(self, running_program: RunningProgram) -> None:
        """Set the running tool."""

    def used(self) -> float:
        """Return the current memory of the tool and its descendants in MiB."""
        ...

    def find_excess(self, used_mib: float) -> OutOfMemory | None:
        """Return why the tool must end, or None. After ``close``, the result is None."""
        ...

    def was_refused(self, output: str) -> bool:
        """Return whether the last tool failed because it was refused memory.

        ``output`` is the end of its standard error.
        """
        ...

    def close(self) -> None:
        """Remove the limit after the tool has ended."""


class GroupMemory:
    """Memory limit by a control group, to which this process moves.

    The memory of this process at the start of the tool is added to the limit. So are cached files
    that are inputs of the tool or still have to be written.

    Raises:
        OSError: The group could not be created.
    """

    pause = 0.25
    data_limit: int | None = None

    def __init__(self, groups: ControlGroupSettings) -> None:
        parent = Path(groups.folder)
        folder = parent / slot_group(os.getpid())
        for sibling in parent.glob(slot_group("*")):
            # A living slot may be about to enter its group.
            if (
                sibling == folder
                or not Path(f"/proc/{sibling.name.removeprefix(slot_group(''))}").exists()
            ):
                with suppress(OSError):  # Processes of a dead slot have not ended yet.
                    sibling.rmdir()
        folder.mkdir()
        (folder / "cgroup.procs").write_text(str(os.getpid()))
        self._is_version_2 = groups.version == 2
        self._limit_file = _open(folder / limit_file(groups), os.O_WRONLY)
        self._total_file = (
            None if self._is_version_2 else _open_if_present(folder / "memory.memsw.limit_in_bytes")
        )
        self._usage_file = _open(
            folder / ("memory.current" if self._is_version_2 else "memory.usage_in_bytes")
        )
        self._stat_file = _open(folder / "memory.stat")
        self._kills_file = _open(
            folder / ("memory.events" if self._is_version_2 else "memory.oom_control")
        )
        self._most_used = (
            None if self._is_version_2 else _open(folder / "memory.max_usage_in_bytes", os.O_RDWR)
        )
        self._reclaim_file = _open_if_present(folder / "memory.reclaim")
        with suppress(OSError):  # The kernel has no swap.
            swap_file = "memory.swap.max" if self._is_version_2 else "memory.swappiness"
            (folder / swap_file).write_text("0")
        self._base_bytes, self._kills_before, self._limits_before = 0, 0, 0
        self._mib, self._maximum, self._closed = 0.0, 0, True

    def open(self, mib: float, inputs: float, *, warm_memory: float = 0.0) -> None:
        """Set the limit of the group from its current usage and ``mib``."""
        usage, stat = self._read_number(self._usage_file), self._read_numbers(self._stat_file)
        self._base_bytes = self._count_allocated_bytes(stat) - int(warm_memory * _MIB)
        kills = self._read_numbers(self._kills_file)
        self._kills_before, self._limits_before = kills.get("oom_kill", 0), kills.get("oom", 0)
        self._mib, self._closed = mib, False
        if not mib:
            return
        files = stat.get("file", stat.get("cache", 0)) - stat.get("shmem", 0)
        clean = max(0, min(files - stat.get("file_dirty", stat.get("dirty", 0)), usage))
        maximum = (
            usage - clean + int((mib - warm_memory + min(clean / _MIB, inputs + _CACHE)) * _MIB)
        )
        if usage > maximum:
            self._reclaim_memory(usage - maximum, maximum)
            maximum = max(maximum, self._read_number(self._usage_file))
        self._set(maximum)
        self._maximum = maximum
        if self._most_used is not None:
            os.pwrite(self._most_used, b"0", 0)

    def set_running(self, running_program: RunningProgram) -> None:
        """Do nothing: the tool is in the group."""

    def used(self) -> float:
        """Return the memory of the group in MiB without the memory before the start of the tool."""
        allocated = self._count_allocated_bytes(self._read_numbers(self._stat_file))
        return max(0.0, (allocated - self._base_bytes) / _MIB)

    def find_excess(self, used_mib: float) -> OutOfMemory | None:
        """Return why the tool must end, from the kernel's kills and its usage, or None."""
        if self._closed:
            return None
        if self._count_kills() > self._kills_before:
            is_own_limit = self._mib and self._has_reached_limit()
            return OutOfMemory.LIMIT if is_own_limit else OutOfMemory.NODE
        return OutOfMemory.LIMIT if 0 < self._mib < used_mib else None

    def was_refused(self, output: str) -> bool:
        """Return False, as the group does not refuse memory."""
        return False

    def close(self) -> None:
        """Remove the limit of the group."""
        if self._mib:
            self._set(None)
            self._mib = 0.0
        self._closed = True

    def _set(self, maximum: int | None) -> None:
        """Write both limits in an order that never puts one above the other."""
        text = (
            b"max"
            if maximum is None and self._is_version_2
            else str(-1 if maximum is None else maximum).encode()
        )
        files = (
            [self._limit_file] if self._total_file is None else [self._limit_file, self._total_file]
        )
        for file in reversed(files) if maximum is None else files:
            with suppress(OSError):  # The usage is already higher: it is only polled.
                os.pwrite(file, text, 0)

    def _reclaim_memory(self, amount: int, maximum: int) -> None:
        with suppress(OSError):
            if self._reclaim_file is not None:
                os.pwrite(self._reclaim_file, str(amount).encode(), 0)
            elif not self._is_version_2:
                os.pwrite(self._limit_file, str(maximum).encode(), 0)

    def _count_allocated_bytes(self, stat: dict[str, int]) -> int:
        """Return the bytes that are not cached files: memory of processes and shared memory.

        Shared memory includes files in a file system in memory.
        """
        return stat.get("anon", stat.get("rss", 0)) + stat.get("shmem", 0)

    def _count_kills(self) -> int:
        """Return how many processes of the group the kernel has killed for lack of memory."""
        return self._read_numbers(self._kills_file).get("oom_kill", 0)

    def _has_reached_limit(self) -> bool:
        """Return whether the limit was reached, or else a parent group ran out of memory."""
        if self._most_used is None:
            return self._read_numbers(self._kills_file).get("oom", 0) > self._limits_before
        return self._read_number(self._most_used) > self._maximum - _MAX_STEP

    def _read_number(self, file: int) -> int:
        return int(os.pread(file, 64, 0))

    def _read_numbers(self, file: int) -> dict[str, int]:
        counters = _COUNTERS.findall(os.pread(file, 1 << 14, 0))
        return {name.decode(): int(value) for name, value in counters}


class ProcessMemory:
    """Memory limit by polling.

    Between two checks, the kernel limits the data of each process to little more than twice the
    limit.
    """

    pause = 0.1

    def __init__(self) -> None:
        self._mib = 0.0
        self._running_program: RunningProgram | None = None
        self.data_limit: int | None = None

    def open(self, mib: float, inputs: float, *, warm_memory: float = 0.0) -> None:
        """Set the limits."""
        self._mib = mib
        extra = _SPACE_MORE + _SPACE_A_CORE * (os.cpu_count() or 1)
        self.data_limit = int((_SPACE * mib + extra) * _MIB) if mib else None

    def set_running(self, running_program: RunningProgram) -> None:
        """Set the running tool."""
        self._running_program = running_program

    def used(self) -> float:
        """Return the memory of the tool and its descendants in MiB.

        It is the resident memory, or the proportional memory if the former exceeds the limit: a
        tool with many processes that share pages must not be ended for the same pages many times.
        """
        if self._running_program is None:
            return 0.0
        root, baseline_memory = self._running_program.root, self._running_program.baseline_memory
        used = resident_memory(root) - baseline_memory
        if 0 < self._mib < used:
            used = proportional_memory(root) - baseline_memory
        return max(0.0, used)

    def find_excess(self, used_mib: float) -> OutOfMemory | None:
        """Return ``LIMIT`` if the usage exceeds the limit, otherwise None."""
        return OutOfMemory.LIMIT if 0 < self._mib < used_mib else None

    def was_refused(self, output: str) -> bool:
        """Return whether the tool's last output says that it was refused memory."""
        return self.data_limit is not None and _REFUSAL.search(output) is not None

    def close(self) -> None:
        """Remove the limit."""
        self._mib = 0.0


def create_memory(groups: ControlGroupSettings | None) -> Memory:
    """Return the memory limit of this slot, by a control group if possible."""
    if groups is not None:
        try:
            return GroupMemory(groups)
        except OSError as error:  # Somebody has removed the pilot's group.
            log.error("memory.no_group", group=groups.folder, reason=reason_of(error))
    return ProcessMemory()


def _open(path: Path, flags: int = os.O_RDONLY) -> int:
    return os.open(path, flags | os.O_CLOEXEC)


def _open_if_present(path: Path) -> int | None:
    """Open a file for writing, or return None if it does not exist."""
    with suppress(FileNotFoundError):
        return _open(path, os.O_WRONLY)
    return None
