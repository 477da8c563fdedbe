"""Why nothing of a run is at work: people should not have to look for it on the web page."""

import sys
import time
from collections.abc import Iterable

from sluice.cwl_runner.rest import RequestRefusedError, Rest
from sluice.stalled_steps import LONG_WAIT, is_stalled, reason_in

_NOT_FOUND = 404


class InvocationNeverFits(ValueError):
    """No node that is there or can be launched will ever have what a job needs."""


class RunWaits:
    """Tells on standard error what keeps jobs waiting, each reason once, whatever the numbers in
    it. ``for_nodes``: also where it is nodes that are not there, and cannot be launched."""

    def __init__(self, rest: Rest, *, for_nodes: bool) -> None:
        self._rest = rest
        self._for_nodes = for_nodes
        self._told: set[str] = set()
        self.begin()

    def begin(self) -> None:
        """Something is under way: there is nothing to tell for a while."""
        self._next = time.monotonic() + LONG_WAIT

    def look(self, chains: Iterable[str]) -> None:
        """Raises ``InvocationNeverFits``, ``RequestRefusedError``, ``OSError``."""
        if time.monotonic() < self._next:
            return
        self.begin()
        for chain in chains:
            for task in self._rest.get("/tasks", chain=chain)["tasks"]:
                jobs = task["jobs"]
                if jobs is not None and is_stalled(
                    ready=jobs["ready"], leased=jobs["leased"], running=jobs["running"]
                ):
                    self._require_outlook(task["task_uid"])
                    self._tell(self._rest.get(f"/tasks/{task['task_uid']}/explain")["text"])

    def _require_outlook(self, task: str) -> None:
        if self._for_nodes:
            return
        if (refusal := self._refusal()) is not None:
            raise InvocationNeverFits(refusal)
        try:
            outlook = self._rest.get(f"/tasks/{task}/outlook")
        except RequestRefusedError as error:
            if error.status != _NOT_FOUND:
                raise
            return  # the system is of the release before
        if outlook["never"]:
            raise InvocationNeverFits(
                f"{outlook['reason']}; with --wait it would wait for one that does"
            )

    def _refusal(self) -> str | None:
        """Return why no pilot of the system starts; None where one may."""
        from sluice.embedded.readiness import (  # noqa: PLC0415 - httpx takes long to import
            read_refusal,
        )

        return read_refusal(self._rest.url)

    def _tell(self, sentence: str) -> None:
        reason = reason_in(sentence)
        if reason not in self._told:
            self._told.add(reason)
            print(f"sluice: waiting: {sentence}", file=sys.stderr, flush=True)
