"""A program that runs: a child of this process, or in a sandbox."""

import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from pilot.runner.programs.orphans import kill_group, kill_orphans
from pilot.sandbox.held_sandbox import Usage
from pilot.sandbox.process_limits import ProcessLimits


class Running(Protocol):
    """``descriptor``: readable once it has ended. ``root``: pid of the process whose descendants
    are the program's processes, or it is the program itself; ``beside``: MiB of memory that those
    had before it began."""

    @property
    def descriptor(self) -> int: ...

    @property
    def root(self) -> int: ...

    @property
    def beside(self) -> float: ...

    @property
    def used(self) -> float:
        """MiB of memory that it had at its end; 0: not known."""
        ...

    def has_ended(self) -> bool:
        """Once ``descriptor`` is readable."""
        ...

    def signal(self, number: int) -> None:
        """To its process group at least. Nothing happens where it has ended."""

    def kill(self) -> None:
        """At once, from any thread, which waits until it is dead; another one calls ``end``."""

    def end(self) -> Usage:
        """Once it has ended, or to end it. Nothing of it is left afterwards."""
        ...


class Child:
    """A child of this process, in a session of its own. ``known``: children of this process that
    are not the program's."""

    beside = used = 0.0

    def __init__(
        self, pid: int, known: Callable[[], frozenset[int]], limits: ProcessLimits
    ) -> None:
        self.root = pid
        self._known = known
        self.descriptor = os.pidfd_open(pid)
        for number, most in limits.as_numbers():
            with suppress(ProcessLookupError, ValueError, PermissionError):
                resource.prlimit(pid, number, (most, most))

    def has_ended(self) -> bool:
        return True

    def signal(self, number: int) -> None:
        kill_group(self.root, number)

    def kill(self) -> None:
        kill_group(self.root, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, self.root, os.WEXITED | os.WNOWAIT)

    def end(self) -> Usage:
        # The leader is a zombie until wait4, so its number cannot belong to another group yet.
        kill_group(self.root, signal.SIGKILL)
        _, status, usage = os.wait4(self.root, 0)
        os.close(self.descriptor)
        kill_orphans(self._known())
        # A forked process counts this one's memory as its own until it has become the tool.
        return Usage(
            status=status,
            cpu=usage.ru_utime + usage.ru_stime,
            memory=usage.ru_maxrss,
            floor=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        )
