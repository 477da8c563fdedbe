"""Loop that requests jobs whenever the core wants some."""

import asyncio

import structlog

from pilot.backoff import Backoff
from pilot.domain.model import LeaseGranted
from pilot.runtime import PilotRuntime, now
from pilot.wms_session import FORGOTTEN, WmsSession
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.pilots.leases import LeaseRequest

log = structlog.get_logger(__name__)

#: Minimum seconds between two requests when the WMS answers at once without jobs.
_MIN_WAIT = 0.1
#: Maximum seconds that a request may wait while jobs run. When they end, the free
#: capacity in the request is out of date.
_WAIT_AT_WORK = 2.0


async def request_jobs(runtime: PilotRuntime, session: WmsSession, *, wait: float) -> None:
    """Request jobs until the pilot drains.

    ``wait`` is the maximum number of seconds that one request waits for jobs.
    """
    backoff = Backoff()
    while not runtime.core.draining:
        runtime.changed.clear()
        requested = runtime.core.count_jobs_to_request(now())
        if requested == 0:
            await runtime.changed.wait()
            continue
        requested = runtime.limit_jobs(requested)
        if requested == 0:
            log.warning("lease.no_space", attempt=backoff.count + 1)
            await backoff.wait()
            continue
        registration, sent_at = session.registration_count, now().boot_time
        try:
            max_wait = wait if runtime.core.idle else min(wait, _WAIT_AT_WORK)
            free_capacity = runtime.core.free_capacity(now(), requested)
            request = LeaseRequest(
                jobs=requested,
                wait=max_wait,
                known_tasks=runtime.core.known_tasks,
                free_capacity=free_capacity,
                loaded=sorted({tool.kind for tool in runtime.core.warm_workers}),
            )
            lease = await session.lease(request)
        except FORGOTTEN:
            await session.register_again(registration)
            continue
        except ServiceError as error:
            log.warning("lease.failed", reason=error.detail, attempt=backoff.count + 1)
            await backoff.wait()
            continue
        backoff.reset()
        runtime.tell(LeaseGranted(sent_at, lease))
        if lease.jobs:
            runtime.save_tokens()
        else:
            await asyncio.sleep(max(0.0, min(_MIN_WAIT, sent_at + _MIN_WAIT - now().boot_time)))
