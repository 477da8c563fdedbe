"""Pauses that grow with every failure, with some chance in them so that many pilots do not come
back at once."""

import asyncio
import random


class Pauses:
    """``first`` and ``longest`` in seconds."""

    def __init__(self, *, first: float = 0.2, longest: float = 5.0) -> None:
        self.count = 0
        self._first = first
        self._longest = longest

    def next(self) -> float:
        pause = min(self._first * 2.0 ** min(self.count, 30), self._longest)
        self.count += 1
        return pause * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing

    async def wait(self) -> None:
        await asyncio.sleep(self.next())

    def reset(self) -> None:
        self.count = 0
