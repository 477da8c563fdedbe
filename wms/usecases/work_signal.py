"""Signal to waiting requests of pilots in this process that there may be work.

It only saves waiting; the database holds the truth.
"""

import asyncio
from collections.abc import Callable


class WorkSignal:
    """Signal that jobs are ready.

    ``ready`` wakes all waiters. ``ready_in`` does so later, for jobs that pause before a retry.
    """

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._version = 0
        self._closed = False
        #: Called if jobs are to be made; the owner of the splitting loops sets it.
        self.wake_splitting: Callable[[], None] = _do_nothing

    @property
    def closed(self) -> bool:
        """True if the process stops, so that callers should no longer wait."""
        return self._closed

    def close(self) -> None:
        """Wake all waiters, and refuse new ones."""
        self._closed = True
        self.ready()

    @property
    def version(self) -> int:
        """A number that rises with each signal.

        Read it before looking for work, and pass it to ``wait`` afterwards.
        """
        return self._version

    def ready(self) -> None:
        """Wake all waiters."""
        self._version += 1
        event, self._event = self._event, asyncio.Event()
        event.set()

    def ready_in(self, seconds: float) -> None:
        """Wake all waiters after ``seconds``."""
        if seconds <= 0:
            self.ready()
        else:
            asyncio.get_running_loop().call_later(seconds, self.ready)

    async def wait(self, version: int, *, seconds: float) -> None:
        """Return at a signal given since ``version`` was read, or after ``seconds``."""
        if self._version != version or self._closed:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return


def _do_nothing() -> None:
    """Do nothing: the loops check at intervals anyway."""
