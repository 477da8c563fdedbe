"""Loop that requests jobs whenever the core wants some."""

import asyncio

import structlog

from pilot.backoff import Backoff
from pilot.domain.model import LeaseGranted
from pilot.runtime import PilotRuntime, now
from pilot.wms_session import FORGOTTEN, WmsSession
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.pilots.pilots import LeaseRequest

log = structlog.get_logger(__name__)

#: Minimum seconds between two requests when the WMS answers at once without jobs.
_SHORTEST_WAIT = 0.1
#: Maximum seconds that a request may wait while jobs run. When they end, the room in the request is
#: out of date.
_WAIT_AT_WORK = 2.0


async def request_jobs(agent: PilotRuntime, session: WmsSession, *, wait: float) -> None:
    """Request jobs until the pilot drains.

    ``wait`` is the maximum number of seconds that one request waits for jobs.
    """
    backoff = Backoff()
    while not agent.core.draining:
        agent.changed.clear()
        wanted = agent.core.jobs_wanted(now())
        if wanted == 0:
            await agent.changed.wait()
            continue
        wanted = agent.most_jobs(wanted)
        if wanted == 0:
            log.warning("lease.no_room", attempt=backoff.count + 1)
            await backoff.wait()
            continue
        seen, sent = session.times, now().boot_time
        try:
            at_most = wait if agent.core.idle else min(wait, _WAIT_AT_WORK)
            room = agent.core.room(now(), wanted)
            request = LeaseRequest(
                jobs=wanted,
                wait=at_most,
                known_tasks=agent.core.known_tasks,
                room=room,
                loaded=sorted({tool.kind for tool in agent.core.loaded}),
            )
            lease = await session.lease(request)
        except FORGOTTEN:
            await session.register_again(seen)
            continue
        except ServiceError as error:
            log.warning("lease.failed", reason=error.detail, attempt=backoff.count + 1)
            await backoff.wait()
            continue
        backoff.reset()
        agent.tell(LeaseGranted(sent, lease))
        if lease.jobs:
            agent.save_tokens()
        else:
            await asyncio.sleep(
                max(0.0, min(_SHORTEST_WAIT, sent + _SHORTEST_WAIT - now().boot_time))
            )
