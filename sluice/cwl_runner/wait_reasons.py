"""Why no job of a run is running, so that people need not look at the web page."""

import sys
import time
from collections.abc import Iterable

from sluice.cwl_runner.rest import RestConnection
from sluice.scheduling.stalled_steps import LONG_WAIT, is_stalled, reason_in


class UnschedulableInvocation(ValueError):
    """No node that exists or can be launched will ever have what a job needs."""


class RunWaits:
    """Prints on standard error why jobs wait: each reason once, whatever its numbers.

    ``wait_for_nodes`` lets jobs wait also for nodes that do not exist and cannot be launched.
    """

    def __init__(self, rest: RestConnection, *, wait_for_nodes: bool) -> None:
        self._rest = rest
        self._wait_for_nodes = wait_for_nodes
        self._printed_reasons: set[str] = set()
        self.begin()

    def begin(self) -> None:
        """Begin to wait; nothing is printed for a while."""
        self._next_check = time.monotonic() + LONG_WAIT

    def check(self, chains: Iterable[str]) -> None:
        """Print why jobs of the chains wait, if they have waited for long enough.

        Raises:
            UnschedulableInvocation: A job will never run.
            RequestRefusedError: The system refuses a request.
            OSError: The system cannot be reached.
        """
        if time.monotonic() < self._next_check:
            return
        self.begin()
        for chain in chains:
            for task in self._rest.get("/tasks", chain_uid=chain)["tasks"]:
                jobs = task["jobs"]
                if jobs is not None and is_stalled(
                    ready=jobs["ready"], leased=jobs["leased"], running=jobs["running"]
                ):
                    self._require_schedulable(task["task_uid"])
                    self._print_reason(self._rest.get(f"/tasks/{task['task_uid']}/explain")["text"])

    def _require_schedulable(self, task: str) -> None:
        if self._wait_for_nodes:
            return
        if (refusal := self._find_refusal()) is not None:
            raise UnschedulableInvocation(refusal)
        outlook = self._rest.get(f"/tasks/{task}/outlook")
        if outlook["never"]:
            raise UnschedulableInvocation(
                f"{outlook['reason']}; with --wait it would wait for one that does"
            )

    def _find_refusal(self) -> str | None:
        """Return why no pilot of the system starts, or None if one may."""
        # The import of httpx takes long.
        from sluice.embedded.readiness import read_refusal  # noqa: PLC0415

        return read_refusal(self._rest.url)

    def _print_reason(self, sentence: str) -> None:
        reason = reason_in(sentence)
        if reason not in self._printed_reasons:
            self._printed_reasons.add(reason)
            print(f"sluice: waiting: {sentence}", file=sys.stderr, flush=True)
