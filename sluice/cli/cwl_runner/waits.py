"""Why nothing of a run is at work: people should not have to look for it on the web page."""

import sys
import time
from collections.abc import Iterable

from sluice.cli.cwl_runner.rest import Rest
from sluice.cli.stalled import LONG_WAIT, is_stalled, reason_in


class Waits:
    """Tells on standard error what keeps jobs waiting, each reason once, whatever the numbers in it."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest
        self._told: set[str] = set()
        self.begin()

    def begin(self) -> None:
        """Something is under way: there is nothing to tell for a while."""
        self._next = time.monotonic() + LONG_WAIT

    def look(self, chains: Iterable[str]) -> None:
        """Raises ``Refused``, ``OSError``."""
        if time.monotonic() < self._next:
            return
        self.begin()
        for chain in chains:
            for task in self._rest.get("/tasks", chain=chain)["tasks"]:
                jobs = task["jobs"]
                if jobs is not None and is_stalled(ready=jobs["ready"], leased=jobs["leased"], running=jobs["running"]):
                    self._tell(self._rest.get(f"/tasks/{task['task_id']}/explain")["text"])

    def _tell(self, sentence: str) -> None:
        reason = reason_in(sentence)
        if reason not in self._told:
            self._told.add(reason)
            print(f"sluice: waiting: {sentence}", file=sys.stderr, flush=True)
