"""Run an embedded system as a process, until a signal or until its last user ends."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from sluice.embedded.system import POLL_PAUSE, EmbeddedSystem
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
        drain_timeout: Seconds to wait for jobs at a stop. None means that there is no limit.
        while_used: Stop when the last user of the system ends.
    """

    on_ready: Callable[[str], None]
    on_wait: Callable[[int], None]
    log_level: str = "INFO"
    drain_timeout: float | None = None
    while_used: bool = False


async def run_until_signal(system: EmbeddedSystem, options: RunOptions) -> None:
    """Run the system until SIGTERM or SIGINT, and then until the running jobs have ended.

    Running jobs are handed back after a second signal or the drain timeout. They are also handed
    back when the last user of the system ends, and when its home folder is gone. The function
    raises the errors of ``EmbeddedSystem.start``.
    """
    configure_logging("sluice", level=options.log_level)
    stop = TwoStageStop()
    stop.listen()
    watch = watch_home(system.home, stop, while_used=options.while_used)
    watch_task = asyncio.create_task(watch, name="watch the home folder")
    start_task = asyncio.create_task(system.start(), name="start")
    signal_task = asyncio.create_task(stop.requested.wait(), name="wait for a signal")
    try:
        await asyncio.wait([start_task, signal_task], return_when=asyncio.FIRST_COMPLETED)
        if not start_task.done():
            await cancel_and_wait(start_task)
            return
        await start_task
        options.on_ready(system.url)
        await signal_task
        await _stop(system, stop, options)
    finally:
        watch_task.cancel()


async def _stop(system: EmbeddedSystem, stop: TwoStageStop, options: RunOptions) -> None:
    stop_task = asyncio.create_task(system.stop(), name="stop")
    second_signal_task = asyncio.create_task(stop.at_once.wait(), name="wait for another signal")
    if options.drain_timeout is not None:
        asyncio.get_running_loop().call_later(options.drain_timeout, stop.hurry)
    announced = 0
    while not stop_task.done() and not second_signal_task.done():
        await asyncio.wait(
            [stop_task, second_signal_task], timeout=POLL_PAUSE, return_when=asyncio.FIRST_COMPLETED
        )
        jobs = await system.jobs_at_work()
        if jobs and jobs != announced:
            announced = jobs
            options.on_wait(jobs)
    if second_signal_task.done():
        system.hurry()
    second_signal_task.cancel()
    await stop_task
