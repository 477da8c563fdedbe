"""All loops of the chain service, started, stopped and woken together."""

from collections.abc import Awaitable, Callable, Sequence

from sluice.servicekit.loop import Loop
from sluice.servicekit.metrics import ServiceMetrics

Tick = Callable[[], Awaitable[bool]]


class ChainLoops:
    """All loops of the service; ``wake`` has each of them look at once."""

    def __init__(self, ticks: dict[str, Tick], *, period: float, metrics: ServiceMetrics) -> None:
        self.loops: Sequence[Loop] = [
            Loop(name, tick, period=period, metrics=metrics) for name, tick in ticks.items()
        ]

    def wake(self) -> None:
        for loop in self.loops:
            loop.wake()

    async def start(self) -> None:
        for loop in self.loops:
            await loop.start()

    async def stop(self) -> None:
        for loop in self.loops:
            await loop.stop()
