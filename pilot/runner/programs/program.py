"""Runs of tools: own process group, limits of time, memory and disk, and no orphans."""

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import IO

from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.sandbox.sandbox_instance import Usage
from pilot.runner.programs.control import SlotControl
from pilot.runner.programs.disk import folder_size
from pilot.runner.programs.memory import Memory, OutOfMemory, ProcessMemory
from pilot.runner.programs.oom_priority import children_go_first
from pilot.runner.programs.running import Child, RunningProgram
from pilot.runner.programs.unlinked_files import unlinked_size

_MIB = 1 << 20

#: Seconds until the first check of memory and disk, and between checks of the disk.
_FIRST_LOOK = 0.5
_NEXT_LOOK = 1.0
#: A pause lasts a multiple of the check's duration, up to a number of seconds. Checks therefore
#: never become the main load.
_REST, _LATEST_LOOK = 20, 10.0


class KillReason(Enum):
    """The reason why a tool, or one of its processes, was ended.

    The outputs of such a tool are not used.
    """

    TIME = auto()
    MEMORY = auto()
    #: The node was out of memory, whatever the limit of the tool is.
    NODE_MEMORY = auto()
    DISK = auto()
    STOPPED = auto()


_CUTS = {OutOfMemory.LIMIT: KillReason.MEMORY, OutOfMemory.NODE: KillReason.NODE_MEMORY}


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """Limits of a program; 0 means no limit.

    ``time`` and ``grace`` are in seconds, ``memory`` and ``disk`` in MiB. ``inputs`` is the size of
    the tool's files in MiB.
    """

    time: float
    memory: float
    disk: float
    grace: float
    inputs: float = 0.0


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run, with its environment, folder and streams."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str
    #: What is written below this folder counts as the job's disk.
    watched: str
    stdin: IO[bytes] | int
    stdout: int
    stderr: int
    #: Whether the size of each file is limited to the job's disk, or its memory if that is more.
    limit_files: bool = True
    #: Path of the ``stdin`` file as the program sees it, or None if ``stdin`` is no file.
    stdin_path: str | None = None


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """Result of a run.

    ``exit_code`` is negative for a signal. ``memory`` is in MiB, or None if it was too small to
    measure. ``cpu`` and ``seconds`` are in seconds, ``read`` and ``written`` in bytes. None means
    unknown.
    """

    exit_code: int
    cut: KillReason | None
    memory: float | None
    cpu: float | None
    seconds: float
    read: int | None = None
    written: int | None = None


def start_child(program: Program, limits: ProcessLimits) -> int:
    """Start a program as a child of this process in a session of its own, and return its pid.

    It gets the limits right after its start. The sandbox sets those of its tools before.

    Raises:
        OSError: The program could not be started.
    """
    with children_go_first():
        popen = subprocess.Popen(
            program.arguments,
            cwd=program.folder,
            env=program.environment,
            stdin=program.stdin,
            stdout=program.stdout,
            stderr=program.stderr,
            start_new_session=True,
        )
    popen.returncode = 0  # the starter waits by pid
    limits.restrict(popen.pid)
    return popen.pid


#: Starts a program within limits. Raises ``OSError`` if it cannot be started.
Start = Callable[[Program, ProcessLimits], RunningProgram]


def as_child(
    known: Callable[[], frozenset[int]],
    start: Callable[[Program, ProcessLimits], int] = start_child,
) -> Start:
    """Return a function that starts a program as a child of this process.

    ``known`` returns the children that are not the program's.
    """
    return lambda program, limits: Child(start(program, limits), known)


def run_program(
    program: Program,
    limits: ProgramLimits,
    control: SlotControl,
    *,
    start: Start,
    memory: Memory | None = None,
    held: float = 0.0,
) -> ProgramEnd:
    """Run a program until it ends, exceeds a limit or is stopped.

    ``held`` is the memory in MiB that a warm worker already has. Other exceptions of ``start`` pass
    through.

    Raises:
        OSError: The program could not be started.
    """
    begun = time.monotonic()
    memory = memory or ProcessMemory()
    memory.open(limits.memory, limits.inputs, held=held)
    disk = _Disk(program.watched, limits.disk)
    try:
        with control.starting():
            running = start(program, limits_of_each(program, limits, memory))
            control.started(running)
    except BaseException:
        memory.close()
        raise
    memory.started(running)
    watch = _Watch(running, disk, limits=limits, control=control, memory=memory)
    try:
        watch.until_end()
    finally:
        usage = running.end()
        with control.starting():
            control.started(None)
        over = memory.over(0)
        memory.close()
    exit_code = os.waitstatus_to_exitcode(usage.status)
    cut = watch.cut
    if cut is None and over is not None:
        cut = _CUTS[over]
    if cut is None and disk.filled(failed=exit_code != 0):
        cut = KillReason.DISK
    reached = limits.memory if cut is KillReason.MEMORY else 0.0
    return ProgramEnd(
        exit_code=exit_code,
        cut=cut,
        memory=_peak_memory(usage, max(watch.peak, reached, running.used)),
        cpu=usage.cpu,
        seconds=time.monotonic() - begun,
        read=usage.read,
        written=usage.written,
    )


def _peak_memory(usage: Usage, seen: float) -> float | None:
    """Return the peak memory in MiB, or None if it was too small to measure."""
    return max(usage.memory / 1024, seen) if usage.memory > usage.floor else seen or None


def limits_of_each(program: Program, limits: ProgramLimits, memory: Memory) -> ProcessLimits:
    """Return the limits of each process.

    No file can grow beyond the job's disk. Files in memory have the same kernel limit, so it is at
    least the job's memory.
    """
    largest = largest_file(limits.disk, limits.memory) if program.limit_files else 0
    return ProcessLimits(data=memory.brake, file_size=int(largest * _MIB) or None)


def largest_file(disk: float, memory: float) -> float:
    """Return the maximum size of a file in MiB, or 0 for no limit."""
    return max(disk, memory) if disk else 0


class _Disk:
    """Disk usage below ``root``, without what was there before.

    ``most`` is the limit in MiB; 0 means no limit.
    """

    def __init__(self, root: str, most: float) -> None:
        self._root = root
        self._most = most
        self._limit = most + folder_size(root) if most else 0.0

    def passed(self, leader: int) -> bool:
        """Return whether a running program exceeds the limit.

        ``leader`` is its pid. Its descendants count too.
        """
        used = folder_size(self._root, self._limit) if self._most else 0.0
        return bool(self._most) and (
            used > self._limit or used + unlinked_size(leader, self._root) > self._limit
        )

    def filled(self, *, failed: bool) -> bool:
        """Return whether an ended program has exceeded the limit.

        ``failed`` says that the program failed. A program that ignores SIGXFSZ, as Python does,
        fails by itself when a file reaches the limit.
        """
        if not self._most:
            return False
        used = folder_size(self._root, self._limit)
        return used > self._limit or (failed and used >= self._limit - 0.01 * self._most)


class _Watch:
    """Waits for the end of a program and checks limits and stops."""

    def __init__(
        self,
        running: RunningProgram,
        disk: _Disk,
        *,
        limits: ProgramLimits,
        control: SlotControl,
        memory: Memory,
    ) -> None:
        begun = time.monotonic()
        self.cut: KillReason | None = None
        self.peak = 0.0
        self._running = running
        self._disk = disk
        self._limits = limits
        self._control = control
        self._end = begun + limits.time if limits.time else None
        self._memory = memory
        self._look = begun + min(_FIRST_LOOK, memory.pause)
        self._look_at_disk = begun + _FIRST_LOOK
        self._kill: float | None = None

    def until_end(self) -> None:
        """Wait until the program has ended."""
        poll = select.poll()
        poll.register(self._running.descriptor, select.POLLIN)
        poll.register(self._control.wake, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(self._pause())}
            if self._running.descriptor in ready and self._running.has_ended():
                return
            if self._control.wake in ready:
                os.eventfd_read(self._control.wake)
                self._cut_short(KillReason.STOPPED)
            self._check()

    def _pause(self) -> int:
        """Return the milliseconds until the next check."""
        ticks = [
            boot_time
            for boot_time in (self._kill, self._look if self._kill is None else None, self._end)
            if boot_time is not None
        ]
        return max(0, int((min(ticks) - time.monotonic()) * 1000) + 1) if ticks else -1

    def _check(self) -> None:
        now = time.monotonic()
        if self._kill is not None and now >= self._kill:
            self._running.signal(signal.SIGKILL)
            self._kill, self._end = now + 60.0, None
            return
        if self._end is not None and now >= self._end:
            self._cut_short(KillReason.TIME)
        elif self._kill is None and now >= self._look:
            self._look_at_usage()

    def _look_at_usage(self) -> None:
        begun = time.monotonic()
        used = self._memory.used()
        self.peak = max(self.peak, used)
        over = self._memory.over(used)
        self._look = next_look(begun, self._memory.pause)
        if over is not None:
            self._cut_short(_CUTS[over])
        elif (begun := time.monotonic()) >= self._look_at_disk:
            if self._disk.passed(self._running.root):
                self._cut_short(KillReason.DISK)
            self._look_at_disk = next_look(begun, _NEXT_LOOK)

    def _cut_short(self, cut: KillReason) -> None:
        """End the program.

        It gets SIGTERM first if it may clean up. A tool over its memory or disk limit is killed at
        once.
        """
        if self.cut is None:
            self.cut = cut
        self._end = None
        gentle = cut is KillReason.TIME or (cut is KillReason.STOPPED and self._control.gentle())
        if gentle and self._kill is None:
            self._running.signal(signal.SIGTERM)
            self._kill = time.monotonic() + self._limits.grace
        else:
            self._running.signal(signal.SIGKILL)
            self._kill = time.monotonic() + 60.0


def next_look(begun: float, pause: float) -> float:
    """Return the time of the next check after a check that ends now.

    ``pause`` is the minimum number of seconds from now.
    """
    now = time.monotonic()
    return now + min(_LATEST_LOOK, max(pause, _REST * (now - begun)))
