"""Wait until the system is at rest, and check its state."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping

from tests.faults.checker.checks import Finding, find_deviations
from tests.faults.checker.expectation import Expectation
from tests.faults.checker.load import load_snapshot
from tests.faults.checker.snapshot import Snapshot

CountMessages = Callable[[], Awaitable[dict[str, int]]]

#: Seconds between two checks.
_PAUSE = 2.0


async def wait_for_final_state(
    databases: Mapping[str, str],
    count_messages: CountMessages,
    expectation: Expectation,
    *,
    marker: str,
    seconds: float,
) -> tuple[Snapshot, list[Finding]]:
    """Return the state without findings, or with the findings left after ``seconds``.

    The first check may be too early: files are deleted last, the broker counts late, and warm
    workers stay for a while. ``marker`` is in the command line of each process of a tool.
    """
    deadline = time.monotonic() + seconds
    while True:
        state = await load_snapshot(databases, await count_messages(), marker=marker)
        findings = await asyncio.to_thread(find_deviations, state, expectation)
        if not findings or time.monotonic() > deadline:
            return state, findings
        # The state is that of other processes, which have no event for its end.
        await asyncio.sleep(_PAUSE)
