"""Hears of jobs that other instances made ready, by LISTEN. What it misses while its connection is
away, the poll finds."""

import asyncio

import asyncpg
import structlog

from sluice.servicekit.database import LOST_CONNECTION, session_settings
from sluice.servicekit.lifecycle import cancel_and_wait
from wms.usecases.work_signal import WorkSignal

log = structlog.get_logger(__name__)

CHANNEL = "wms_ready"

#: Seconds before a lost connection is opened again.
PAUSE = 1.0


class ReadyListener:
    """Component: signals whenever a transaction that made jobs ready has committed, in whatever
    process."""

    def __init__(self, url: str, signal: WorkSignal) -> None:
        self._url = url
        self._signal = signal
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="ready listener")

    async def stop(self) -> None:
        task, self._task = self._task, None
        await cancel_and_wait(task)

    async def _run(self) -> None:
        while True:
            try:
                await self._listen()
            except LOST_CONNECTION as error:
                log.warning("ready_listener.lost", reason=str(error))
            await asyncio.sleep(PAUSE)

    async def _listen(self) -> None:
        closed = asyncio.Event()
        connection = await asyncpg.connect(self._url, server_settings=session_settings(self._url))
        try:
            connection.add_termination_listener(lambda _: closed.set())
            await connection.add_listener(CHANNEL, lambda *_: self._signal.ready())
            self._signal.ready()
            await closed.wait()
        finally:
            await connection.close(timeout=1.0)
