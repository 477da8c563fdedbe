"""Pauses that grow with every failure.

Each pause has a random part, so that many pilots do not retry at the same time.
"""

import asyncio
import random

from sluice.scheduling.backoff import pause_after


class Backoff:
    """Counts failures and returns the pause after each.

    ``first`` and ``max_pause`` are in seconds.
    """

    def __init__(self, *, first: float = 0.2, max_pause: float = 5.0) -> None:
        self.count = 0
        self._first = first
        self._max_pause = max_pause

    def next(self) -> float:
        """Count a failure and return the pause after it in seconds."""
        self.count += 1
        pause = pause_after(self.count, first=self._first, max_pause=self._max_pause)
        return pause * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing

    async def wait(self) -> None:
        """Count a failure and sleep for the pause after it."""
        await asyncio.sleep(self.next())

    def reset(self) -> None:
        """Forget all failures."""
        self.count = 0
