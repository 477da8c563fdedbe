"""Loop that stops jobs before their leases end, independent of the network."""

import asyncio

from pilot.domain.model import TimePassed
from pilot.runtime import PilotRuntime, now

#: Maximum pause in seconds: jobs leased in the meantime may have earlier deadlines.
_MAX_WAIT = 1.0


async def watch_deadlines(runtime: PilotRuntime) -> None:
    """Tell the core whenever one of its deadlines has passed."""
    while True:
        check = runtime.core.next_check()
        boot_time = now().boot_time
        if check is not None and check <= boot_time:
            runtime.tell(TimePassed())
            await asyncio.sleep(0.02)
        else:
            await asyncio.sleep(_MAX_WAIT if check is None else min(_MAX_WAIT, check - boot_time))
