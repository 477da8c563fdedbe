"""The chain service's loops whose work results from changes.

They are started, stopped and woken together.
"""

from collections.abc import Awaitable, Callable, Sequence

from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.loop import Loop

Tick = Callable[[], Awaitable[bool]]


class ChainLoops:
    """The loop that starts steps, and the other loops by name."""

    def __init__(
        self, start_steps: Tick, others: dict[str, Tick], *, period: float, metrics: ServiceMetrics
    ) -> None:
        self.loops: Sequence[Loop] = [
            Loop(name, tick, period=period, metrics=metrics)
            for name, tick in {"chains.start_steps": start_steps, **others}.items()
        ]

    def wake_start(self) -> None:
        """Wake only the loop that starts steps, because a chain was created."""
        self.loops[0].wake()

    def wake(self) -> None:
        """Make each loop look for work at once."""
        for loop in self.loops:
            loop.wake()

    async def start(self) -> None:
        """Start all loops."""
        for loop in self.loops:
            await loop.start()

    async def stop(self) -> None:
        """Stop all loops."""
        for loop in self.loops:
            await loop.stop()
