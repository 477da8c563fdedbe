"""Periodic work: functions that run at an interval, or earlier when they are woken.

A service declares its loops in its ``loops`` module, and ``Loops`` runs them.

Correctness rests on the polling. A wake only saves waiting time.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import chain

import structlog

from sluice.contracts.common.problems import NotAvailable
from sluice.scheduling.backoff import pause_after
from sluice.servicekit.database import TRANSIENT_ERRORS
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.lifecycle import cancel_and_wait
from sluice.text.os_errors import reason_of

log = structlog.get_logger(__name__)

#: Seconds between ticks after successive failures: the first pause and the longest.
FIRST_PAUSE, MAX_PAUSE = 0.2, 5.0
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
        tick: Callable[[], Awaitable[object]],
        *,
        period: float,
        metrics: ServiceMetrics,
    ) -> None:
        self.name = name
        self.tick = tick
        self._period = period
        self._metrics = metrics
        # Creates the series at 0, so that Prometheus sees the first increase.
        metrics.loop_failures.labels(name)
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
                more = await self.tick() is True
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
            (self._stopping, pause_after(failures, first=FIRST_PAUSE, max_pause=MAX_PAUSE))
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


@dataclass(frozen=True, slots=True)
class LoopDeclaration:
    """A background loop of a service.

    Attributes:
        name: The name in logs and metrics.
        period: Seconds between two rounds without a wake-up.
        function: One round. If it returns True, there is more work, and the next round starts at
            once.
        count: The number of loops that share the work. If it is set, or ``wakes`` is, the function
            gets ``on_found``, which it calls when it has found work.
        wakes: The names of loops that may have work as soon as this one has found work.
    """

    name: str
    period: float
    function: Callable[..., Awaitable[object]]
    _: KW_ONLY
    count: int | None = None
    wakes: tuple[str, ...] = ()


class Loops:
    """Component that runs the loops of a service.

    Loops that share work wake each other forwards only: two loops could otherwise wake each other
    forever over work that has to wait.
    """

    def __init__(self, declarations: Iterable[LoopDeclaration], metrics: ServiceMetrics) -> None:
        self._metrics = metrics
        self.by_name = {one.name: self._make(one) for one in declarations}

    def __iter__(self) -> Iterator[Loop]:
        return chain.from_iterable(self.by_name.values())

    def wake(self, *names: str) -> None:
        """Make loops look for work now: the named ones, or all.

        Of loops that share work, an idle one is woken, and busy ones look again afterwards. A busy
        loop may hold the changed object, which the others cannot see, and may have read it too
        early.
        """
        for name in names or self.by_name:
            _wake_one_idle(self.by_name[name])

    async def start(self) -> None:
        """Start all loops."""
        for loop in self:
            await loop.start()

    async def stop(self) -> None:
        """Stop all loops at the same time."""
        await asyncio.gather(*(loop.stop() for loop in self))

    def _make(self, declaration: LoopDeclaration) -> list[Loop]:
        def make(name: str, tick: Callable[[], Awaitable[object]]) -> Loop:
            return Loop(name, tick, period=declaration.period, metrics=self._metrics)

        if declaration.count is None and not declaration.wakes:
            return [make(declaration.name, declaration.function)]
        return [
            make(
                declaration.name if declaration.count is None else f"{declaration.name}.{number}",
                partial(
                    declaration.function, on_found=partial(self._on_found, declaration, number)
                ),
            )
            for number in range(declaration.count or 1)
        ]

    def _on_found(self, declaration: LoopDeclaration, number: int) -> None:
        """Wake the loops that may have work because one of the declared loops has found some."""
        _wake_one_idle(self.by_name[declaration.name][number + 1 :])
        if declaration.wakes:
            self.wake(*declaration.wakes)


def _wake_one_idle(loops: Sequence[Loop]) -> None:
    idle = [loop for loop in loops if loop.idle]
    for loop in loops:
        if loop not in idle[1:]:
            loop.wake()


def do_nothing() -> None:
    """Do nothing: a tick without other loops calls this to wake them."""
