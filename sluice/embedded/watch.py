"""Reasons for an embedded system to stop automatically: its home is gone, or it has no users."""

import asyncio
import os
import threading
from itertools import count

import structlog

from sluice.embedded.home import Home
from sluice.embedded.home_space import create_reserve
from sluice.embedded.users import SystemUser
from sluice.servicekit.running.signals import TwoStageStop

log = structlog.get_logger(__name__)

#: Seconds between two checks.
_POLL_PAUSE = 0.5
#: The number of checks between two attempts to make the reserve of the home.
_CHECKS_PER_RESERVE = 120
#: Seconds after which a system whose home is gone ends in any case, because it occupies a port.
_END_TIMEOUT = 10.0


async def watch_home(home: Home, stop: TwoStageStop, *, while_used: bool) -> None:
    """Stop the system at once when its home folder is removed or moved.

    Args:
        home: The home folder, which the starting system locks.
        stop: The stop of the system, which then hands jobs back at once.
        while_used: Whether to stop when the last user of the system ends, too.
    """
    users = SystemUser(home)
    was_in_place = False
    for look in count():
        if look % _CHECKS_PER_RESERVE == 0:
            await asyncio.to_thread(create_reserve, home.reserve)
        await asyncio.sleep(_POLL_PAUSE)
        was_in_place = was_in_place or home.is_in_place()
        if was_in_place and not home.is_in_place():
            log.error("system.home_missing", home=str(home.root))
            end = threading.Timer(_END_TIMEOUT, os._exit, [1])
            end.daemon = True
            end.start()
            break
        # The lock is held until this process ends: a new user waits, and starts another system.
        if was_in_place and while_used and users.is_alone():
            log.warning("system.unused", home=str(home.root))
            break
    stop.hurry()
    await asyncio.Event().wait()
