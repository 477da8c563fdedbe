"""Tests of loops that share work: a wake wakes one loop, a loop that finds work wakes the next, and
no loop is woken forever."""

import asyncio
from collections.abc import Callable
from itertools import count

import pytest

from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.loop import LoopDeclaration, Loops
from tests.waiting import eventually

#: Seconds. This is longer than any test, so that only wakes run the loops.
NEVER = 3600.0


class Work:
    """Work that counts its runs. Each run waits until the test releases it."""

    def __init__(self, *, finds_work: bool, blocked: bool = False) -> None:
        self.finds_work = finds_work
        self.ticks = 0
        self.at_work = 0
        self.go_on = asyncio.Event()
        if not blocked:
            self.go_on.set()

    async def tick(self, on_found: Callable[[], None]) -> bool:
        self.ticks += 1
        if self.finds_work:
            on_found()
        self.at_work += 1
        await asyncio.sleep(0)  # Other tasks run, as they would during a query.
        await self.go_on.wait()
        self.at_work -= 1
        return False


async def start_idle_loops(work: Work, count: int) -> Loops:
    """Start the loops and wait until all of them are idle. These first runs do not count."""
    found_work, is_blocked = work.finds_work, not work.go_on.is_set()
    work.finds_work = False
    work.go_on.set()
    loops = Loops([LoopDeclaration("work", NEVER, work.tick, count=count)], ServiceMetrics())
    await loops.start()
    await wait_until(lambda: all(loop.idle for loop in loops))
    work.finds_work, work.ticks = found_work, 0
    if is_blocked:
        work.go_on.clear()
    return loops


async def wait_until(holds: Callable[[], bool]) -> None:
    await eventually(holds, seconds=5, period=0)


async def wait_until_settled(loops: Loops) -> None:
    """Wait until all wakes have been handled."""
    for _ in range(50):
        await asyncio.sleep(0)
    assert all(loop.idle for loop in loops)


@pytest.mark.parametrize(("finds_work", "ticks"), [(False, 1), (True, 3)])
async def test_wake_runs_one_loop_and_found_work_runs_each_other_loop_once(
    *, finds_work: bool, ticks: int
) -> None:
    """With ``finds_work`` there is always work, so that the loops could wake each other forever."""
    work = Work(finds_work=finds_work)
    loops = await start_idle_loops(work, 3)
    loops.wake("work")
    await wait_until(lambda: work.ticks >= ticks)
    await wait_until_settled(loops)
    assert work.ticks == ticks
    await loops.stop()


async def test_wake_during_a_run_makes_the_busy_loop_run_again() -> None:
    """The busy loop may have looked too early, and the woken loop does not see its rows."""
    work = Work(finds_work=False, blocked=True)
    loops = await start_idle_loops(work, 3)
    loops.wake("work")
    await wait_until(lambda: work.at_work == 1)
    loops.wake("work")
    await wait_until(lambda: work.at_work == 2)
    work.go_on.set()
    await wait_until(lambda: work.ticks >= 3)
    await wait_until_settled(loops)
    assert work.ticks == 3
    await loops.stop()


async def test_two_wakes_at_the_same_time_wake_two_loops() -> None:
    work = Work(finds_work=False, blocked=True)
    loops = await start_idle_loops(work, 3)
    loops.wake("work")
    loops.wake("work")
    await wait_until(lambda: work.at_work == 2)
    work.go_on.set()
    await wait_until_settled(loops)
    assert work.ticks == 2
    await loops.stop()


async def test_wake_while_all_loops_are_busy_makes_each_run_again() -> None:
    work = Work(finds_work=False, blocked=True)
    loops = await start_idle_loops(work, 2)
    loops.wake("work")
    loops.wake("work")
    await wait_until(lambda: work.at_work == 2)
    loops.wake("work")
    work.go_on.set()
    await wait_until(lambda: all(loop.idle for loop in loops))
    assert work.ticks == 4
    await loops.stop()


async def test_wake_goes_to_a_loop_that_does_not_rest_after_a_failure() -> None:
    failing, fine, rounds = asyncio.Event(), asyncio.Event(), count()

    async def fail_first_round(on_found: Callable[[], None]) -> bool:
        if next(rounds) == 0:
            failing.set()
            raise RuntimeError("no")
        fine.set()
        return False

    loops = Loops([LoopDeclaration("work", NEVER, fail_first_round, count=2)], ServiceMetrics())
    await loops.start()
    await asyncio.gather(failing.wait(), fine.wait())
    first, second = loops
    await wait_until(lambda: second.idle)
    assert not first.idle
    fine.clear()
    loops.wake("work")
    async with asyncio.timeout(5):
        await fine.wait()
    await loops.stop()


async def test_found_work_wakes_the_declared_loops() -> None:
    woken: list[str] = []

    async def find(on_found: Callable[[], None]) -> None:
        if woken:
            on_found()

    async def follow() -> None:
        woken.append("followed")

    loops = Loops(
        [
            LoopDeclaration("first", NEVER, find, wakes=("second",)),
            LoopDeclaration("second", NEVER, follow),
        ],
        ServiceMetrics(),
    )
    await loops.start()
    await wait_until_settled(loops)
    loops.wake("first")
    await wait_until_settled(loops)
    assert woken == ["followed"] * 2
    await loops.stop()


async def test_round_that_returns_a_number_is_not_repeated() -> None:
    """Only True means that there is more work: many functions return how much they did."""
    work = Work(finds_work=False)

    async def count_ticks() -> int:
        await work.tick(lambda: None)
        return 1

    loops = Loops([LoopDeclaration("work", NEVER, count_ticks)], ServiceMetrics())
    await loops.start()
    await wait_until_settled(loops)
    assert work.ticks == 1
    await loops.stop()
