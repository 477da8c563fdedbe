"""The contract of everything that runs in the background: it can be started and stopped.

A second stop has no effect.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import structlog

log = structlog.get_logger(__name__)


class Component(Protocol):
    """Something that can be started and stopped."""

    async def start(self) -> None:
        """Start the component."""

    async def stop(self) -> None:
        """Stop the component. A second call has no effect."""


async def stop_all(components: Sequence[Component]) -> None:
    """Stop components in reverse order. A failure does not keep the others running."""
    for component in reversed(components):
        try:
            await component.stop()
        except Exception:  # process boundary: the others must still be stopped
            log.exception("component.stop_failed", component=type(component).__name__)


async def start_all(components: Sequence[Component]) -> None:
    """Start components in order. If one fails, stop those that were started and raise its error."""
    started: list[Component] = []
    try:
        for component in components:
            started.append(component)
            await component.start()
    except BaseException:
        await stop_all(started)
        raise


@asynccontextmanager
async def running(*components: Component) -> AsyncIterator[None]:
    """Run components for the duration of the block."""
    await start_all(components)
    try:
        yield
    finally:
        await stop_all(components)


async def cancel_and_wait(task: "asyncio.Task[None] | None") -> None:
    """Cancel a background task and wait for its end. Its errors are dropped."""
    if task is None:
        return
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
