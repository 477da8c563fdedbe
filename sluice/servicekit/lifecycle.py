"""The one contract of everything that runs in the background: start, stop, and stopping twice is
fine."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import structlog

log = structlog.get_logger(__name__)


class Component(Protocol):
    async def start(self) -> None: ...
    async def stop(self) -> None: ...


async def stop_all(components: Sequence[Component]) -> None:
    """Stops in reverse order of starting; one that fails to stop does not keep the others
    running."""
    for component in reversed(components):
        try:
            await component.stop()
        except Exception:  # process boundary: the others must still be stopped
            log.exception("component.stop_failed", component=type(component).__name__)


async def start_all(components: Sequence[Component]) -> None:
    """Starts in order; when one fails, those started are stopped and its error is raised."""
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
    await start_all(components)
    try:
        yield
    finally:
        await stop_all(components)


async def cancel_and_wait(task: "asyncio.Task[None] | None") -> None:
    """Cancels a background task and waits until it has ended; whatever it raises on the way out is
    dropped."""
    if task is None:
        return
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
