"""Crash a function at a chosen place."""

from collections.abc import Awaitable, Callable

from tests.integration.wfms.faults import Crash
from tests.integration.wfms.wfms_fixture import WfmsFixture


async def crash_everywhere(wfms: WfmsFixture, loop: Callable[[], Awaitable[object]]) -> int:
    """Repeat a function with a crash at its first place, its second, and so on, until it completes.

    Return the number of crashes.
    """
    crashes = 0
    while True:
        wfms.fuse.at, wfms.fuse.passed_places = crashes + 1, 0
        try:
            await loop()
            return crashes
        except Crash:
            crashes += 1
        finally:
            wfms.fuse.at = None


async def crash_at(wfms: WfmsFixture, place: int, loop: Callable[[], Awaitable[object]]) -> bool:
    """Run a function with a crash at one place; return True if it completes before that place."""
    wfms.fuse.at, wfms.fuse.passed_places = place, 0
    try:
        await loop()
    except Crash:
        return False
    finally:
        wfms.fuse.at = None
    return True
