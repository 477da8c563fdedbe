"""A program that stays, outside of a sandbox: a child of this process."""

from collections.abc import Callable, Sequence

from pilot.runner.programs.orphans import kill_orphans
from pilot.runner.programs.running import Child
from pilot.sandbox.held_sandbox import Usage
from pilot.sandbox.process_limits import ProcessLimits


class LastingChild:
    """``known``: children of this process that are not the program's."""

    #: It sees the node's own /tmp.
    ways = frozenset[str]()

    def __init__(
        self, pid: int, known: Callable[[], frozenset[int]], limits: ProcessLimits
    ) -> None:
        self.pid = pid
        self._known = known
        self.running = Child(pid, known, limits)
        self._has_ended = False

    def show(self, inputs: Sequence[str]) -> bool:
        """It sees what this process sees."""
        return True

    def pause(self) -> None:
        """It goes on as it likes: what it has left to others is ended."""
        kill_orphans(self._known() | {self.pid})

    def resume(self) -> None:
        """It has not stood still."""

    def end(self) -> Usage:
        self._has_ended = True
        return self.running.end()

    def close(self) -> None:
        if not self._has_ended:
            self.end()
