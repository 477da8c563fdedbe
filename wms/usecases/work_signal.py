"""Tells waiting pilots' requests, within this process, that there may be work. The database is the
truth; this saves waiting.
"""

import asyncio
from collections.abc import Callable


class WorkSignal:
    """``ready`` wakes all who wait; ``ready_in`` does so later (for jobs that pause before their
    next attempt).
    """

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._version = 0
        self._closed = False
        #: Called where there are jobs to be made; set by who runs the loops that make them.
        self.wake_splitting: Callable[[], None] = _nobody

    @property
    def closed(self) -> bool:
        """The process stops: nobody is to wait any more."""
        return self._closed

    def close(self) -> None:
        self._closed = True
        self.ready()

    @property
    def version(self) -> int:
        """Grows with every signal: what is read before looking for work is handed to ``wait``
        afterwards.
        """
        return self._version

    def ready(self) -> None:
        self._version += 1
        event, self._event = self._event, asyncio.Event()
        event.set()

    def ready_in(self, seconds: float) -> None:
        if seconds <= 0:
            self.ready()
        else:
            asyncio.get_running_loop().call_later(seconds, self.ready)

    async def wait(self, version: int, *, seconds: float) -> None:
        """Returns at a signal given since ``version`` was read, or after ``seconds``."""
        if self._version != version or self._closed:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return


def _nobody() -> None:
    """The loops look by themselves after a while."""
