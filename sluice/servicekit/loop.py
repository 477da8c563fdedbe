"""Periodic work: a tick every so often, sooner when woken. The poll is the truth; a wake only saves
the waiting."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from sluice.backoff import pause_after
from sluice.contracts.problems import NotAvailable
from sluice.servicekit.database import PASSING
from sluice.servicekit.lifecycle import cancel_and_wait
from sluice.servicekit.metrics import ServiceMetrics

log = structlog.get_logger(__name__)

#: Seconds of rest after ticks that failed one after the other: the first, and the longest.
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
#: Seconds that the tick under way gets to end at a stop.
STOP_PATIENCE = 2.0


class Loop:
    """Calls ``tick`` again and again: at once while it returns True (there is more), else after
    ``period`` seconds or a wake."""

    def __init__(
        self,
        name: str,
        tick: Callable[[], Awaitable[bool]],
        *,
        period: float,
        metrics: ServiceMetrics,
    ) -> None:
        self.name = name
        self._tick = tick
        self._period = period
        self._metrics = metrics
        metrics.loop_failures.labels(
            name
        )  # from 0 on: what begins with 1 is no increase to Prometheus
        self._wake = asyncio.Event()
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        self._wake.set()

    async def start(self) -> None:
        self._stopping.clear()
        self._task = asyncio.create_task(self._run(), name=f"loop {self.name}")

    async def stop(self) -> None:
        """The tick under way is finished where it does not take long: what it has claimed is not
        left to run out."""
        task, self._task = self._task, None
        if task is None:
            return
        self._stopping.set()
        self._wake.set()
        await asyncio.wait([task], timeout=STOP_PATIENCE)
        await cancel_and_wait(task)

    async def _run(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            self._wake.clear()
            try:
                more = await self._tick()
                failures = 0
            except (*PASSING, NotAvailable) as error:
                failures += 1
                more = False
                log.warning("loop.waiting", loop=self.name, failures=failures, reason=str(error))
            except Exception:  # process boundary: one failed tick must not end the loop
                failures += 1
                more = False
                self._metrics.loop_failures.labels(self.name).inc()
                log.exception("loop.tick_failed", loop=self.name, failures=failures)
            if not more and not self._stopping.is_set():
                await self._pause(failures)

    async def _pause(self, failures: int) -> None:
        event, seconds = (
            (self._stopping, pause_after(failures, first=FIRST_PAUSE, longest=LONGEST_PAUSE))
            if failures
            else (self._wake, self._period)
        )
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return
