"""Cache of counts over many jobs, for people who look at the same page every few seconds."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

ResultT = TypeVar("ResultT")

#: A result is valid for ``MIN_TTL`` seconds at least, and for the time that the count took, times
#: ``TTL_FACTOR``.
MIN_TTL, TTL_FACTOR = 1.0, 20.0


class TtlCache(Generic[ResultT]):
    """TTL cache of the ``limit`` results that were used last."""

    def __init__(self, limit: int = 256) -> None:
        self._limit = limit
        self._lock = asyncio.Lock()
        self._results: OrderedDict[Hashable, tuple[float, ResultT]] = OrderedDict()

    async def get(self, key: Hashable, count: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """Return the last result of ``count`` if it is still valid; one count runs at a time."""
        clock = asyncio.get_running_loop().time
        async with self._lock:
            valid_until, result = self._results.get(key, (0.0, None))
            if result is not None and clock() < valid_until:
                return result
            began = clock()
            new_result = await count()
            ended = clock()
            span = max(MIN_TTL, TTL_FACTOR * (ended - began))
            self._results[key] = (ended + span, new_result)
            self._results.move_to_end(key)
            while len(self._results) > self._limit:
                self._results.popitem(last=False)
            return new_result
