"""Wait for a condition with a deadline instead of a fixed pause."""

import asyncio
import os
import time
from collections.abc import Callable
from inspect import isawaitable
from pathlib import Path

#: Seconds between two checks of a condition.
PERIOD = 0.01

Description = str | Callable[[], str]


async def eventually(
    condition: Callable[[], object],
    *,
    what: Description = "what is waited for",
    seconds: float = 30.0,
    period: float = PERIOD,
) -> None:
    """Wait until ``condition``, or the awaitable that it returns, is true.

    Fails with ``what`` if the condition is not true within ``seconds``.
    """
    is_true = await wait_for_condition(condition, seconds=seconds, period=period)
    assert is_true, _describe_timeout(what, seconds)


async def wait_for_condition(
    condition: Callable[[], object], *, seconds: float, period: float = PERIOD
) -> bool:
    """Wait for ``condition``, or the awaitable that it returns, and return whether it became true.

    The last check is after ``seconds``.
    """
    deadline = time.monotonic() + seconds
    while True:
        holds = condition()
        if await holds if isawaitable(holds) else holds:
            return True
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(period)


def wait_until(
    condition: Callable[[], object],
    *,
    what: Description = "what is waited for",
    seconds: float = 30.0,
) -> None:
    """Wait as ``eventually`` does, without an event loop."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, _describe_timeout(what, seconds)
        time.sleep(PERIOD)


def _describe_timeout(what: Description, seconds: float) -> str:
    return f"not within {seconds} s: {what if isinstance(what, str) else what()}"


class Gate:
    """A named pipe at which a job waits until the test opens it.

    A job waits with ``: < path`` in a shell, or with ``open(path).close()`` in Python.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)

    def __str__(self) -> str:
        return str(self.path)

    def open(self) -> None:
        """Open the gate for all jobs that wait and for all later jobs."""
        # Reading and writing, so that it does not wait for a reader itself; left open on purpose.
        os.open(self.path, os.O_RDWR)
