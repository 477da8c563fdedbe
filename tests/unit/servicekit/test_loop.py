"""Tests of loops that share work: a wake wakes one loop, a loop that finds work wakes the next, and
no loop is woken for ever."""

import asyncio
from collections.abc import Callable

import pytest

from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.loop import Loop, sharing_loops, wake_idle
from tests.waiting import eventually

#: Seconds. This is longer than any test, so that only wakes run the loops.
NEVER = 3600.0


class Work:
    """Work that counts its runs. Each run waits until the test releases it."""

    def __init__(self, *, found: bool, held: bool = False) -> None:
        self.found = found
        self.ticks = 0
        self.at_work = 0
        self.go_on = asyncio.Event()
        if not held:
            self.go_on.set()

    async def tick(self, on_found: Callable[[], None]) -> bool:
        self.ticks += 1
        if self.found:
            on_found()
        self.at_work += 1
        await asyncio.sleep(0)  # Other tasks run, as they would during a query.
        await self.go_on.wait()
        self.at_work -= 1
        return False


async def started(work: Work, count: int) -> list[Loop]:
    """Start the loops and wait until all of them are idle. These first runs do not count."""
    found, held = work.found, not work.go_on.is_set()
    work.found = False
    work.go_on.set()
    loops = sharing_loops("work", work.tick, count=count, period=NEVER, metrics=ServiceMetrics())
    for loop in loops:
        await loop.start()
    await until(lambda: all(loop.idle for loop in loops))
    work.found, work.ticks = found, 0
    if held:
        work.go_on.clear()
    return loops


async def until(holds: Callable[[], bool]) -> None:
    await eventually(holds, seconds=5, period=0)


async def settled(loops: list[Loop]) -> None:
    """Wait until all wakes have been handled."""
    for _ in range(50):
        await asyncio.sleep(0)
    assert all(loop.idle for loop in loops)


async def stop(loops: list[Loop]) -> None:
    for loop in loops:
        await loop.stop()


@pytest.mark.parametrize(("found", "ticks"), [(False, 1), (True, 3)])
async def test_wake_runs_one_loop_and_found_work_runs_each_other_loop_once(
    *, found: bool, ticks: int
) -> None:
    """With ``found`` there is always work, so that the loops could wake each other for ever."""
    work = Work(found=found)
    loops = await started(work, 3)
    wake_idle(loops)
    await until(lambda: work.ticks >= ticks)
    await settled(loops)
    assert work.ticks == ticks
    await stop(loops)


async def test_wake_during_a_run_makes_the_busy_loop_run_again() -> None:
    """The busy loop may have looked too early, and the woken loop does not see its rows."""
    work = Work(found=False, held=True)
    loops = await started(work, 3)
    wake_idle(loops)
    await until(lambda: work.at_work == 1)
    wake_idle(loops)
    await until(lambda: work.at_work == 2)
    work.go_on.set()
    await until(lambda: work.ticks >= 3)
    await settled(loops)
    assert work.ticks == 3
    await stop(loops)


async def test_two_wakes_at_the_same_time_wake_two_loops() -> None:
    work = Work(found=False, held=True)
    loops = await started(work, 3)
    wake_idle(loops)
    wake_idle(loops)
    await until(lambda: work.at_work == 2)
    work.go_on.set()
    await stop(loops)


async def test_wake_while_all_loops_are_busy_makes_each_run_again() -> None:
    work = Work(found=False, held=True)
    loops = await started(work, 2)
    wake_idle(loops)
    wake_idle(loops)
    await until(lambda: work.at_work == 2)
    wake_idle(loops)
    work.go_on.set()
    await until(lambda: all(loop.idle for loop in loops))
    assert work.ticks == 4
    await stop(loops)


async def test_wake_goes_to_a_loop_that_does_not_rest_after_a_failure() -> None:
    failing, fine = asyncio.Event(), asyncio.Event()

    async def fail() -> bool:
        failing.set()
        raise RuntimeError("no")

    async def look() -> bool:
        fine.set()
        return False

    metrics = ServiceMetrics()
    loops = [
        Loop("failing", fail, period=NEVER, metrics=metrics),
        Loop("fine", look, period=NEVER, metrics=metrics),
    ]
    for loop in loops:
        await loop.start()
    await asyncio.gather(failing.wait(), fine.wait())
    await until(lambda: loops[1].idle)
    assert not loops[0].idle
    fine.clear()
    wake_idle(loops)
    async with asyncio.timeout(5):
        await fine.wait()
    await stop(loops)
