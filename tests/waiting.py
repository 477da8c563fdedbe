"""Waiting for a condition with a deadline, instead of sleeping and hoping."""

import asyncio
import os
import time
from collections.abc import Callable
from inspect import isawaitable
from pathlib import Path

#: Seconds between two looks.
PERIOD = 0.01

Said = str | Callable[[], str]


async def eventually(
    condition: Callable[[], object],
    *,
    what: Said = "what is waited for",
    seconds: float = 30.0,
    period: float = PERIOD,
) -> None:
    """Returns as soon as ``condition``, or what it gives to wait for, holds; fails with ``what``
    when it does not within ``seconds``."""
    deadline = time.monotonic() + seconds
    while True:
        holds = condition()
        if await holds if isawaitable(holds) else holds:
            return
        assert time.monotonic() < deadline, _describe_timeout(what, seconds)
        await asyncio.sleep(period)


def wait_until(
    condition: Callable[[], object], *, what: Said = "what is waited for", seconds: float = 30.0
) -> None:
    """As ``eventually``, where there is no event loop."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, _describe_timeout(what, seconds)
        time.sleep(PERIOD)


def _describe_timeout(what: Said, seconds: float) -> str:
    return f"not within {seconds} s: {what if isinstance(what, str) else what()}"


class Gate:
    """A named pipe that a job waits at until the test lets it through: ``: < path`` in a shell,
    ``open(path).close()`` in Python."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)

    def __str__(self) -> str:
        return str(self.path)

    def open(self) -> None:
        """For those who wait and for all who come later."""
        # Reading and writing, so that it does not wait for a reader itself; left open on purpose.
        os.open(self.path, os.O_RDWR)
