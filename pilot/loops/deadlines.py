"""Looks at the leases when the core wants it: a job is stopped before its lease ends, whatever the
network does."""

import asyncio

from pilot.agent import Agent, now
from pilot.domain.model import TimePassed

#: Longest pause, seconds: jobs leased meanwhile may have earlier deadlines.
_LONGEST = 1.0


async def watch_deadlines(agent: Agent) -> None:
    while True:
        check = agent.core.next_check()
        tick = now().tick
        if check is not None and check <= tick:
            agent.tell(TimePassed())
            await asyncio.sleep(0.02)
        else:
            await asyncio.sleep(_LONGEST if check is None else min(_LONGEST, check - tick))
