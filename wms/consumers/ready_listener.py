"""Listener for jobs that other instances made ready (LISTEN); polling finds what it misses."""

import asyncio

import structlog

from sluice.servicekit.database import LOST_CONNECTION, listen
from sluice.servicekit.running.lifecycle import cancel_and_wait
from sluice.text.os_errors import reason_of
from wms.db.ready_channel import READY_CHANNEL
from wms.usecases.work_signal import WorkSignal

log = structlog.get_logger(__name__)

#: Seconds before a lost connection is opened again.
PAUSE = 1.0


class ReadyListener:
    """Component that signals when any process has committed a transaction that made jobs ready."""

    def __init__(self, url: str, signal: WorkSignal) -> None:
        self._url = url
        self._signal = signal
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start to listen."""
        self._task = asyncio.create_task(self._run(), name="ready listener")

    async def stop(self) -> None:
        """Stop to listen."""
        task, self._task = self._task, None
        await cancel_and_wait(task)

    async def _run(self) -> None:
        while True:
            try:
                await listen(self._url, READY_CHANNEL, on_notify=self._signal.ready)
            except LOST_CONNECTION as error:
                log.warning("ready_listener.lost", reason=reason_of(error))
            await asyncio.sleep(PAUSE)
