"""Pauses that grow with every failure, with some chance in them so that many pilots do not come
back at once."""

import asyncio
import random

from sluice.backoff import pause_after


class Backoff:
    """``first`` and ``longest`` in seconds."""

    def __init__(self, *, first: float = 0.2, longest: float = 5.0) -> None:
        self.count = 0
        self._first = first
        self._longest = longest

    def next(self) -> float:
        self.count += 1
        pause = pause_after(self.count, first=self._first, longest=self._longest)
        return pause * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing

    async def wait(self) -> None:
        await asyncio.sleep(self.next())

    def reset(self) -> None:
        self.count = 0
