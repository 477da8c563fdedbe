"""Warm worker outside a sandbox, as a child of this process."""

from collections.abc import Callable, Sequence

from pilot.isolation.sandbox.sandbox_instance import Usage
from pilot.runner.programs.orphans import kill_orphans
from pilot.runner.programs.running import Child


class WarmWorkerChild:
    """Warm worker as a child of this process.

    ``list_others`` returns the children of this process that are not the program's.
    """

    #: Empty, as it sees the node's own /tmp.
    ways = frozenset[str]()

    def __init__(self, pid: int, list_others: Callable[[], frozenset[int]]) -> None:
        self.pid = pid
        self._list_others = list_others
        self.running = Child(pid, list_others)
        self._has_ended = False

    def show(self, inputs: Sequence[str]) -> bool:
        """Return True, as it sees the files that this process sees."""
        return True

    def pause(self) -> None:
        """Kill its orphans. The program itself keeps running."""
        kill_orphans(self._list_others() | {self.pid})

    def resume(self) -> None:
        """Do nothing, as ``pause`` does not stop it."""

    def end(self) -> Usage:
        """End the program and return its resource usage."""
        self._has_ended = True
        return self.running.end()

    def close(self) -> None:
        """End the program unless it has ended."""
        if not self._has_ended:
            self.end()
