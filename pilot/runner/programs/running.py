"""Running programs: children of this process, or programs in a sandbox."""

import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from pilot.isolation.sandbox.sandbox_instance import Usage
from pilot.runner.programs.orphans import kill_group, kill_orphans


class RunningProgram(Protocol):
    """A running program.

    ``descriptor`` is readable once it has ended. ``root`` is the pid of the program, or of the
    process whose descendants it consists of. ``baseline_memory`` is the memory in MiB
    that these processes had before.
    """

    @property
    def descriptor(self) -> int:
        """Return a descriptor that is readable once the program has ended."""

    @property
    def root(self) -> int:
        """Return the pid of the process whose descendants are the program's."""

    @property
    def baseline_memory(self) -> float:
        """Return the memory in MiB that the processes had before the program began."""

    @property
    def used(self) -> float:
        """Return the memory in MiB at the end of the program, or 0 if it is not known."""
        ...

    def has_ended(self) -> bool:
        """Return whether the program has ended, once ``descriptor`` is readable."""
        ...

    def signal(self, number: int) -> None:
        """Send a signal at least to the process group of the program, if it exists."""

    def kill(self) -> None:
        """Kill the program and wait until it is dead.

        Any thread may call this. Another one calls ``end``.
        """

    def end(self) -> Usage:
        """End the program, if necessary, with all its processes and return its resource usage."""
        ...


class Child:
    """A child of this process, in its own session.

    ``list_others`` returns the children of this process that are not the program's.
    """

    baseline_memory = used = 0.0

    def __init__(self, pid: int, list_others: Callable[[], frozenset[int]]) -> None:
        self.root = pid
        self._list_others = list_others
        self.descriptor = os.pidfd_open(pid)

    def has_ended(self) -> bool:
        """Return True, as ``descriptor`` becomes readable only at the end."""
        return True

    def signal(self, number: int) -> None:
        """Send a signal to the process group."""
        kill_group(self.root, number)

    def kill(self) -> None:
        """Kill the process group and wait until the child is dead."""
        kill_group(self.root, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, self.root, os.WEXITED | os.WNOWAIT)

    def end(self) -> Usage:
        """Kill the process group and all orphans, and return the resource usage."""
        # The leader is a zombie until wait4, so its number cannot belong to another group yet.
        kill_group(self.root, signal.SIGKILL)
        _, status, usage = os.wait4(self.root, 0)
        os.close(self.descriptor)
        kill_orphans(self._list_others())
        # Until a forked process executes the tool, it counts the memory of this process as its own.
        return Usage(
            status=status,
            cpu=usage.ru_utime + usage.ru_stime,
            memory=usage.ru_maxrss,
            floor=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        )
