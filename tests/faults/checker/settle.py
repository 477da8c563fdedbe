"""Waits until the system has come to rest, and then looks."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping

from tests.faults.checker.checks import Finding, look
from tests.faults.checker.expectation import Expectation
from tests.faults.checker.load import load
from tests.faults.checker.snapshot import Snapshot

CountMessages = Callable[[], Awaitable[dict[str, int]]]

#: Seconds between two looks.
_PAUSE = 2.0


async def settle(
    databases: Mapping[str, str],
    count_messages: CountMessages,
    expectation: Expectation,
    *,
    marker: str,
    seconds: float,
) -> tuple[Snapshot, list[Finding]]:
    """The state as soon as nothing is found to be wrong, or what is still wrong after ``seconds``.
    Files come last to be deleted, a broker counts its messages late, and tools stay loaded for a
    while, so the first look may come too early. ``marker``: in the command line of each process of
    a tool."""
    deadline = time.monotonic() + seconds
    while True:
        state = await load(databases, await count_messages(), marker=marker)
        findings = await asyncio.to_thread(look, state, expectation)
        if not findings or time.monotonic() > deadline:
            return state, findings
        await asyncio.sleep(_PAUSE)
