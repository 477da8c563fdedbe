"""Periodic work: a tick every so often, sooner when woken. The poll is the truth; a wake only saves
the waiting."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

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
        self._waiting = False
        self._task: asyncio.Task[None] | None = None

    @property
    def idle(self) -> bool:
        """Waits for its next tick, and nobody has woken it."""
        return self._waiting and not self._wake.is_set()

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
        self._waiting = event is self._wake
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return
        finally:
            self._waiting = False


def sharing_loops(
    name: str,
    tick: Callable[[Callable[[], None]], Awaitable[bool]],
    *,
    count: int,
    period: float,
    metrics: ServiceMetrics,
) -> list[Loop]:
    """Several that take from the same work; ``wake_idle`` wakes one. ``tick`` is given what to call
    when it has found some: there may be more, and the next loop looks too. (Never one before it:
    two could wake each other for ever, over work that has to wait.)"""
    loops: list[Loop] = []

    def help_with(number: int) -> Callable[[], None]:
        return lambda: wake_idle(loops[number + 1 :])

    loops += [
        Loop(f"{name}.{number}", partial(tick, help_with(number)), period=period, metrics=metrics)
        for number in range(count)
    ]
    return loops


def wake_idle(loops: Sequence[Loop]) -> None:
    """Wakes the first that waits, and has those at work look again when they are done: one of them
    may have what has changed in its hands, where the others do not see it, and have looked at it
    too early."""
    idle = [loop for loop in loops if loop.idle]
    for loop in loops:
        if loop not in idle[1:]:
            loop.wake()


def no_help() -> None:
    """What a tick calls where there is no other loop to wake."""
