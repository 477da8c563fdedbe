"""Run an embedded system as a process, until a signal or until nobody uses it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from sluice.embedded.system import LOOK, EmbeddedSystem
from sluice.embedded.watch import watch_home
from sluice.servicekit.running.lifecycle import cancel_and_wait
from sluice.servicekit.running.logging import configure_logging
from sluice.servicekit.running.signals import TwoStageStop


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a process runs a system.

    Attributes:
        on_ready: Called with the address of the system.
        on_wait: Called with the number of jobs that the stop waits for, when it changes.
        log_level: The level of the log.
        drain_timeout: Seconds to wait for jobs at a stop. None: no limit.
        while_used: Stop when nobody uses the system any more.
    """

    on_ready: Callable[[str], None]
    on_wait: Callable[[int], None]
    log_level: str = "INFO"
    drain_timeout: float | None = None
    while_used: bool = False


async def run_until_signal(system: EmbeddedSystem, options: RunOptions) -> None:
    """Run the system until SIGTERM or SIGINT, and then until the running jobs have ended.

    Running jobs are handed back after a second signal or the drain timeout. They are also handed
    back when nobody uses the system any more, and when its home folder is gone. The function raises
    the errors of ``EmbeddedSystem.start``.
    """
    configure_logging("sluice", level=options.log_level)
    stop = TwoStageStop()
    stop.listen()
    watch = watch_home(system.home, stop, while_used=options.while_used)
    watching = asyncio.create_task(watch, name="watch the home folder")
    starting = asyncio.create_task(system.start(), name="start")
    asked = asyncio.create_task(stop.asked.wait(), name="wait for a signal")
    try:
        await asyncio.wait([starting, asked], return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            await cancel_and_wait(starting)
            return
        await starting
        options.on_ready(system.url)
        await asked
        await _stop(system, stop, options)
    finally:
        watching.cancel()


async def _stop(system: EmbeddedSystem, stop: TwoStageStop, options: RunOptions) -> None:
    stopping = asyncio.create_task(system.stop(), name="stop")
    hurried = asyncio.create_task(stop.at_once.wait(), name="wait for another signal")
    if options.drain_timeout is not None:
        asyncio.get_running_loop().call_later(options.drain_timeout, stop.hurry)
    announced = 0
    while not stopping.done() and not hurried.done():
        await asyncio.wait([stopping, hurried], timeout=LOOK, return_when=asyncio.FIRST_COMPLETED)
        jobs = await system.jobs_at_work()
        if jobs and jobs != announced:
            announced = jobs
            options.on_wait(jobs)
    if hurried.done():
        system.hurry()
    hurried.cancel()
    await stopping
