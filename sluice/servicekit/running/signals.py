"""SIGTERM and SIGINT: a request to stop, in whatever state the process is."""

import asyncio
import os
import signal
from types import FrameType

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopRequest:
    """A stop request by a signal.

    Before ``listen`` a signal ends the process with status 0, because there is no work to finish.
    After ``listen`` it only ends ``wait``. Later signals are ignored, except a second SIGINT, which
    ends the process at once.
    """

    def __init__(self) -> None:
        self._received: asyncio.Future[str] | None = None
        for number in STOP_SIGNALS:
            signal.signal(number, _end_now)

    def listen(self) -> None:
        """Handle signals in the running event loop from now on."""
        loop = asyncio.get_running_loop()
        self._received = loop.create_future()
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self._note, number)

    async def wait(self) -> str:
        """Wait for a signal and return its name."""
        if self._received is None:
            raise RuntimeError("the listener has not started")
        return await asyncio.shield(self._received)

    def _note(self, number: signal.Signals) -> None:
        if self._received is not None and not self._received.done():
            self._received.set_result(number.name)
        elif number is signal.SIGINT:
            os._exit(130)


class TwoStageStop:
    """A stop in two stages: the first signal sets ``requested``, the next one sets ``at_once``.

    ``requested`` is a request to finish properly, however long that takes.
    """

    def __init__(self) -> None:
        self.requested = asyncio.Event()
        self.at_once = asyncio.Event()

    def listen(self) -> None:
        """Handle signals in the running event loop from now on."""
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self._note)

    def hurry(self) -> None:
        """Set both events."""
        self.requested.set()
        self.at_once.set()

    def _note(self) -> None:
        (self.at_once if self.requested.is_set() else self.requested).set()


def _end_now(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)
