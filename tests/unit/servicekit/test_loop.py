"""Loops that share work: one is woken, who finds work wakes the next, and none wakes another for
ever."""

import asyncio
from collections.abc import Callable

import pytest

from sluice.servicekit.loop import Loop, sharing_loops, wake_idle
from sluice.servicekit.metrics import ServiceMetrics
from tests.waiting import eventually

#: Seconds: longer than any test, so that only wakes bring ticks.
NEVER = 3600.0


class Work:
    """Ticks are noted by the number of the loop; each waits until it is let go on."""

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
        await asyncio.sleep(0)  # as asking the database does: others have their turn
        await self.go_on.wait()
        self.at_work -= 1
        return False


async def started(work: Work, count: int) -> list[Loop]:
    """All of them wait for a wake; the ticks of the start are not counted."""
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
    """Nothing moves any more: every wake has had its turns of the event loop."""
    for _ in range(50):
        await asyncio.sleep(0)
    assert all(loop.idle for loop in loops)


async def stop(loops: list[Loop]) -> None:
    for loop in loops:
        await loop.stop()


@pytest.mark.parametrize(("found", "ticks"), [(False, 1), (True, 3)])
async def test_one_looks_and_where_there_is_work_each_of_the_others_once(
    *, found: bool, ticks: int
) -> None:
    """With ``found`` there is always some: they would go on for ever."""
    work = Work(found=found)
    loops = await started(work, 3)
    wake_idle(loops)
    await until(lambda: work.ticks >= ticks)
    await settled(loops)
    assert work.ticks == ticks
    await stop(loops)


async def test_who_is_at_work_looks_again_for_it_may_have_looked_too_early() -> None:
    """What it is at is hidden from the one that is woken beside it."""
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


async def test_two_wakes_at_once_wake_two() -> None:
    work = Work(found=False, held=True)
    loops = await started(work, 3)
    wake_idle(loops)
    wake_idle(loops)
    await until(lambda: work.at_work == 2)
    work.go_on.set()
    await stop(loops)


async def test_where_all_are_at_work_each_looks_again() -> None:
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


async def test_one_that_rests_after_a_failure_is_not_counted_on() -> None:
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
