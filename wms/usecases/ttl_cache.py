"""Cache of counts over many jobs, for people who look at the same page every few seconds."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from cachetools import TLRUCache

ResultT = TypeVar("ResultT")

#: A result is valid for ``MIN_TTL`` seconds at least, and for the time that the count took, times
#: ``TTL_FACTOR``.
MIN_TTL, TTL_FACTOR = 1.0, 20.0


class TtlCache(Generic[ResultT]):
    """TTL cache of the ``limit`` results that were used last, each valid for its own time."""

    def __init__(self, limit: int = 256) -> None:
        self._lock = asyncio.Lock()
        self._results: TLRUCache[Hashable, tuple[float, ResultT]] = TLRUCache(
            limit, ttu=lambda _key, entry, now: now + entry[0], timer=time.monotonic
        )

    async def get(self, key: Hashable, count: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """Return the last result of ``count`` if it is still valid; one count runs at a time."""
        async with self._lock:
            if (entry := self._results.get(key)) is None:
                began = time.monotonic()
                result = await count()
                span = max(MIN_TTL, TTL_FACTOR * (time.monotonic() - began))
                entry = self._results[key] = span, result
            return entry[1]
