"""Loop that renews the leases and receives commands."""

import asyncio

import structlog

from pilot.domain.heartbeats import has_unreported_start
from pilot.domain.model import HeartbeatAnswered
from pilot.runtime import PilotRuntime, now
from pilot.wms_session import FORGOTTEN, WmsSession
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.pilots.heartbeats import Heartbeat

log = structlog.get_logger(__name__)


async def send_heartbeats(runtime: PilotRuntime, session: WmsSession) -> None:
    """Send a heartbeat every ``Registration.heartbeat`` seconds.

    The next heartbeat comes sooner after a failure, as leases still run. It also comes sooner after
    the start of a job, so that the counts of running jobs are current.
    """
    while True:
        period = session.registration.heartbeat
        registration, sent_at, heartbeat = (
            session.registration_count,
            now().boot_time,
            runtime.heartbeat(),
        )
        try:
            async with asyncio.timeout(max(period, 1.0)):
                answer = await session.heartbeat(heartbeat)
        except FORGOTTEN:
            await session.register_again(registration)
            continue
        except (ServiceError, TimeoutError) as error:
            log.warning(
                "heartbeat.failed",
                reason=str(error) or "no answer in time",
                jobs=len(heartbeat.running),
            )
            await asyncio.sleep(period / 4)
            continue
        runtime.tell(HeartbeatAnswered(sent_at, heartbeat, answer))
        await _wait_for_next(runtime, heartbeat, sent_at=sent_at, period=period)


async def _wait_for_next(
    runtime: PilotRuntime, heartbeat: Heartbeat, *, sent_at: float, period: float
) -> None:
    """Wait until ``period`` seconds after the boot time ``sent_at``.

    The wait ends within 2 seconds if a job has started that ``heartbeat`` does not list.
    """
    early = min(period / 5, 2.0)
    await asyncio.sleep(max(0.0, sent_at + early - now().boot_time))
    while (remaining := sent_at + period - now().boot_time) > 0:
        if has_unreported_start(heartbeat, runtime.core.slots, boot_time=now().boot_time):
            return
        await asyncio.sleep(min(remaining, early))
