"""Renews the leases, brings commands back."""

import asyncio

import structlog

from pilot.agent import Agent, now
from pilot.domain.model import HeartbeatAnswered
from pilot.wms_session import FORGOTTEN, WmsSession
from sluice.contracts.problems import ServiceError

log = structlog.get_logger(__name__)


async def send_heartbeats(agent: Agent, session: WmsSession) -> None:
    """Every ``Registration.heartbeat`` seconds; sooner after one that did not get through, while
    leases still run."""
    while True:
        period = session.registration.heartbeat
        seen, sent, heartbeat = session.times, now().tick, agent.heartbeat()
        try:
            async with asyncio.timeout(max(period, 1.0)):
                answer = await session.heartbeat(heartbeat)
        except FORGOTTEN:
            await session.register_again(seen)
            continue
        except (ServiceError, TimeoutError) as error:
            log.warning(
                "heartbeat.failed",
                reason=str(error) or "no answer in time",
                jobs=len(heartbeat.running),
            )
            await asyncio.sleep(period / 4)
            continue
        agent.tell(HeartbeatAnswered(sent, heartbeat, answer))
        await asyncio.sleep(max(0.0, sent + period - now().tick))
