"""Waiting for a condition with a deadline, instead of sleeping and hoping."""

import asyncio
import time
from collections.abc import Awaitable, Callable


async def eventually(
    condition: Callable[[], Awaitable[bool]], *, what: str, seconds: float = 30.0
) -> None:
    """Returns as soon as ``condition`` holds; fails with ``what`` when it does not within
    ``seconds``."""
    deadline = time.monotonic() + seconds
    while not await condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        await asyncio.sleep(0.01)
