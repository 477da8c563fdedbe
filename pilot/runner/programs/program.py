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
from pilot.runner.programs.oom_priority import set_children_oom_priority
from pilot.runner.programs.running import Child, RunningProgram
from pilot.runner.programs.unlinked_files import unlinked_size

_MIB = 1 << 20

#: Seconds until the first check of memory and disk, and between checks of the disk.
_FIRST_CHECK = 0.5
_DISK_CHECK_PAUSE = 1.0
#: A pause lasts a multiple of the check's duration, up to a number of seconds. Checks therefore
#: never become the main load.
_PAUSE_FACTOR, _MAX_PAUSE = 20, 10.0


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


_KILL_REASONS = {OutOfMemory.LIMIT: KillReason.MEMORY, OutOfMemory.NODE: KillReason.NODE_MEMORY}


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """Limits of a program. 0 means that there is no limit.

    Attributes:
        time: Seconds.
        memory: MiB.
        disk: MiB.
        grace: Seconds between SIGTERM and SIGKILL.
        inputs: The size of the tool's files in MiB.
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
    #: Files below this folder count as the job's disk.
    disk_folder: str
    stdin: IO[bytes] | int
    stdout: int
    stderr: int
    #: Whether the size of each file is limited to the job's disk, or its memory if that is more.
    limit_files: bool = True
    #: Path of the ``stdin`` file as the program sees it, or None if ``stdin`` is no file.
    stdin_path: str | None = None


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """Result of a run. None means that a value is not known.

    Attributes:
        exit_code: The exit code. Negative for a signal.
        memory: The peak in MiB, or None if it was too small to measure.
        cpu: Seconds of CPU time.
        seconds: Duration in seconds.
        read: Bytes.
        written: Bytes.
    """

    exit_code: int
    kill_reason: KillReason | None
    memory: float | None
    cpu: float | None
    seconds: float
    read: int | None = None
    written: int | None = None


def start_child(program: Program, limits: ProcessLimits) -> int:
    """Start a program as a child of this process in its own session, and return its pid.

    The program gets the limits right after its start. The sandbox sets the limits of its tools
    before their start.

    Raises:
        OSError: The program could not be started.
    """
    with set_children_oom_priority():
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


def start_as_child(
    list_others: Callable[[], frozenset[int]],
    start: Callable[[Program, ProcessLimits], int] = start_child,
) -> Start:
    """Return a function that starts a program as a child of this process.

    ``list_others`` returns the children that are not the program's.
    """
    return lambda program, limits: Child(start(program, limits), list_others)


def run_program(
    program: Program,
    limits: ProgramLimits,
    control: SlotControl,
    *,
    start: Start,
    memory: Memory | None = None,
    warm_memory: float = 0.0,
) -> ProgramEnd:
    """Run a program until it ends, exceeds a limit or is stopped.

    ``warm_memory`` is the memory in MiB that a warm worker already has. Other exceptions of
    ``start`` pass through.

    Raises:
        OSError: The program could not be started.
    """
    start_time = time.monotonic()
    memory = memory or ProcessMemory()
    memory.open(limits.memory, limits.inputs, warm_memory=warm_memory)
    disk = _Disk(program.disk_folder, limits.disk)
    try:
        with control.start_lock:
            running = start(program, create_process_limits(program, limits, memory))
            control.set_running(running)
    except BaseException:
        memory.close()
        raise
    memory.set_running(running)
    watch = _Watch(running, disk, limits=limits, control=control, memory=memory)
    try:
        watch.wait_until_end()
    finally:
        usage = running.end()
        with control.start_lock:
            control.set_running(None)
        excess = memory.find_excess(0)
        memory.close()
    exit_code = os.waitstatus_to_exitcode(usage.status)
    kill_reason = watch.kill_reason
    if kill_reason is None and excess is not None:
        kill_reason = _KILL_REASONS[excess]
    if kill_reason is None and disk.was_exceeded(failed=exit_code != 0):
        kill_reason = KillReason.DISK
    reached = limits.memory if kill_reason is KillReason.MEMORY else 0.0
    return ProgramEnd(
        exit_code=exit_code,
        kill_reason=kill_reason,
        memory=_peak_memory(usage, max(watch.peak, reached, running.used)),
        cpu=usage.cpu,
        seconds=time.monotonic() - start_time,
        read=usage.read,
        written=usage.written,
    )


def _peak_memory(usage: Usage, measured_peak: float) -> float | None:
    """Return the peak memory in MiB, or None if it was too small to measure."""
    return (
        max(usage.memory / 1024, measured_peak)
        if usage.memory > usage.floor
        else measured_peak or None
    )


def create_process_limits(program: Program, limits: ProgramLimits, memory: Memory) -> ProcessLimits:
    """Return the limits of each process.

    No file can grow beyond the job's disk. Files in memory have the same kernel limit, so it is at
    least the job's memory.
    """
    max_file_size = largest_file(limits.disk, limits.memory) if program.limit_files else 0
    return ProcessLimits(data=memory.data_limit, file_size=int(max_file_size * _MIB) or None)


def largest_file(disk: float, memory: float) -> float:
    """Return the maximum size of a file in MiB, or 0 for no limit."""
    return max(disk, memory) if disk else 0


class _Disk:
    """Disk usage below ``root``, without what was there before.

    ``maximum`` is the limit in MiB; 0 means no limit.
    """

    def __init__(self, root: str, maximum: float) -> None:
        self._root = root
        self._maximum = maximum
        self._limit = maximum + folder_size(root) if maximum else 0.0

    def is_exceeded(self, leader: int) -> bool:
        """Return whether a running program exceeds the limit.

        ``leader`` is its pid. Its descendants count too.
        """
        used = folder_size(self._root, self._limit) if self._maximum else 0.0
        return bool(self._maximum) and (
            used > self._limit or used + unlinked_size(leader, self._root) > self._limit
        )

    def was_exceeded(self, *, failed: bool) -> bool:
        """Return whether an ended program has exceeded the limit.

        ``failed`` says that the program failed. A program that ignores SIGXFSZ, as Python does,
        fails when a file reaches the limit.
        """
        if not self._maximum:
            return False
        used = folder_size(self._root, self._limit)
        return used > self._limit or (failed and used >= self._limit - 0.01 * self._maximum)


class _Watch:
    """Waits for the end of a program and checks limits and stops."""

    def __init__(
        self,
        running_program: RunningProgram,
        disk: _Disk,
        *,
        limits: ProgramLimits,
        control: SlotControl,
        memory: Memory,
    ) -> None:
        start_time = time.monotonic()
        self.kill_reason: KillReason | None = None
        self.peak = 0.0
        self._running_program = running_program
        self._disk = disk
        self._limits = limits
        self._control = control
        self._deadline = start_time + limits.time if limits.time else None
        self._memory = memory
        self._next_check = start_time + min(_FIRST_CHECK, memory.pause)
        self._next_disk_check = start_time + _FIRST_CHECK
        self._kill_time: float | None = None

    def wait_until_end(self) -> None:
        """Wait until the program has ended."""
        poll = select.poll()
        poll.register(self._running_program.descriptor, select.POLLIN)
        poll.register(self._control.wake, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(self._compute_timeout())}
            if self._running_program.descriptor in ready and self._running_program.has_ended():
                return
            if self._control.wake in ready:
                os.eventfd_read(self._control.wake)
                self._end_program(KillReason.STOPPED)
            self._check()

    def _compute_timeout(self) -> int:
        """Return the milliseconds until the next check."""
        usage_check = self._next_check if self._kill_time is None else None
        times = [
            moment
            for moment in (self._kill_time, usage_check, self._deadline)
            if moment is not None
        ]
        return max(0, int((min(times) - time.monotonic()) * 1000) + 1) if times else -1

    def _check(self) -> None:
        now = time.monotonic()
        if self._kill_time is not None and now >= self._kill_time:
            self._running_program.signal(signal.SIGKILL)
            self._kill_time, self._deadline = now + 60.0, None
            return
        if self._deadline is not None and now >= self._deadline:
            self._end_program(KillReason.TIME)
        elif self._kill_time is None and now >= self._next_check:
            self._check_usage()

    def _check_usage(self) -> None:
        start_time = time.monotonic()
        used = self._memory.used()
        self.peak = max(self.peak, used)
        excess = self._memory.find_excess(used)
        self._next_check = next_check(start_time, self._memory.pause)
        if excess is not None:
            self._end_program(_KILL_REASONS[excess])
        elif (start_time := time.monotonic()) >= self._next_disk_check:
            if self._disk.is_exceeded(self._running_program.root):
                self._end_program(KillReason.DISK)
            self._next_disk_check = next_check(start_time, _DISK_CHECK_PAUSE)

    def _end_program(self, kill_reason: KillReason) -> None:
        """End the program.

        It gets SIGTERM first if it may clean up. A tool over its memory or disk limit is killed at
        once.
        """
        if self.kill_reason is None:
            self.kill_reason = kill_reason
        self._deadline = None
        is_gentle = kill_reason is KillReason.TIME or (
            kill_reason is KillReason.STOPPED and self._control.grants_cleanup()
        )
        if is_gentle and self._kill_time is None:
            self._running_program.signal(signal.SIGTERM)
            self._kill_time = time.monotonic() + self._limits.grace
        else:
            self._running_program.signal(signal.SIGKILL)
            self._kill_time = time.monotonic() + 60.0


def next_check(start_time: float, pause: float) -> float:
    """Return the time of the next check after a check that ends now.

    ``pause`` is the minimum number of seconds from now.
    """
    now = time.monotonic()
    return now + min(_MAX_PAUSE, max(pause, _PAUSE_FACTOR * (now - start_time)))
