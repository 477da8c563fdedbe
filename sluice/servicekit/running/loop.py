"""Periodic work: a function that runs at an interval, or earlier when it is woken.

Correctness rests on the polling. A wake only saves waiting time.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import structlog

from sluice.contracts.common.problems import NotAvailable
from sluice.scheduling.backoff import pause_after
from sluice.servicekit.database import TRANSIENT_ERRORS
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.lifecycle import cancel_and_wait
from sluice.text.os_errors import reason_of

log = structlog.get_logger(__name__)

#: Seconds between ticks after successive failures: the first pause and the longest.
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
#: Seconds that the current tick may take to end when the loop is stopped.
STOP_PATIENCE = 2.0


class Loop:
    """Runner of a periodic function.

    It calls ``tick`` again at once while ``tick`` returns True, because there is more work.
    Otherwise it waits ``period`` seconds or for a wake.
    """

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
        )  # creates the series at 0, so that Prometheus sees the first increase
        self._wake = asyncio.Event()
        self._stopping = asyncio.Event()
        self._waiting = False
        self._task: asyncio.Task[None] | None = None

    @property
    def idle(self) -> bool:
        """Return whether the loop waits for its next tick and has not been woken."""
        return self._waiting and not self._wake.is_set()

    def wake(self) -> None:
        """Make the loop tick now."""
        self._wake.set()

    async def start(self) -> None:
        """Start the loop."""
        self._stopping.clear()
        self._task = asyncio.create_task(self._run(), name=f"loop {self.name}")

    async def stop(self) -> None:
        """Stop the loop, if possible after the current tick, so that no claim is left to expire."""
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
            except (*TRANSIENT_ERRORS, NotAvailable) as error:
                failures += 1
                more = False
                log.warning(
                    "loop.waiting", loop=self.name, failures=failures, reason=reason_of(error)
                )
            except Exception:  # process boundary: a failed tick must not end the loop
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
    """Return several loops that share the same work.

    ``tick`` receives a function to call when it has found work: there may be more, and the next
    loop looks too. It never wakes an earlier loop, because two loops could wake each other for ever
    over work that has to wait. Wake one of the loops from outside with ``wake_idle``.
    """
    loops: list[Loop] = []

    def help_with(number: int) -> Callable[[], None]:
        return lambda: wake_idle(loops[number + 1 :])

    loops += [
        Loop(f"{name}.{number}", partial(tick, help_with(number)), period=period, metrics=metrics)
        for number in range(count)
    ]
    return loops


def wake_idle(loops: Sequence[Loop]) -> None:
    """Wake the first idle loop, and make busy loops look again when their tick ends.

    A busy loop may hold the changed object, which the others cannot see, and may have read it too
    early.
    """
    idle = [loop for loop in loops if loop.idle]
    for loop in loops:
        if loop not in idle[1:]:
            loop.wake()


def no_help() -> None:
    """Do nothing: a tick without other loops calls this to wake them."""
