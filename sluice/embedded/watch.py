"""Reasons for an embedded system to stop by itself: its home is gone, or it has no users."""

import asyncio
import os
import threading
from itertools import count

import structlog

from sluice.embedded.home import Home
from sluice.embedded.home_space import keep_reserve
from sluice.embedded.users import SystemUser
from sluice.servicekit.running.signals import TwoStageStop

log = structlog.get_logger(__name__)

#: Seconds between two looks.
_LOOK = 0.5
#: The number of looks between two attempts to make the reserve of the home.
_LOOKS_A_RESERVE = 120
#: Seconds after which a system whose home is gone ends in any case, because it occupies a port.
_LIMIT = 10.0


async def watch_home(home: Home, stop: TwoStageStop, *, while_used: bool) -> None:
    """Stop the system at once when its home folder is removed or moved.

    Args:
        home: The folder, which is taken when the system has begun to start.
        stop: Is told to hurry.
        while_used: Whether to stop when nobody uses the system any more, too.
    """
    users = SystemUser(home)
    taken = False
    for look in count():
        if look % _LOOKS_A_RESERVE == 0:
            await asyncio.to_thread(keep_reserve, home.reserve)
        await asyncio.sleep(_LOOK)
        taken = taken or home.is_in_place()
        if taken and not home.is_in_place():
            log.error("system.home_has_gone", home=str(home.root))
            end = threading.Timer(_LIMIT, os._exit, [1])
            end.daemon = True
            end.start()
            break
        # The lock is held until this process ends: a new user waits, and starts another system.
        if taken and while_used and users.is_alone():
            log.warning("system.unused", home=str(home.root))
            break
    stop.hurry()
    await asyncio.Event().wait()
