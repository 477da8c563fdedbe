"""A pilot of a site that takes no jobs, and checks the answers that it gets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import httpx

from sluice.clients.base import API
from sluice.clients.wms import WmsClient
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.registration import RegisterPilot
from sluice.pilot_access.auth import PilotAuth
from tests.faults.retries import FREEZE_SECONDS, require_refusal, retry

#: Seconds after which the WMS knows that a site was revoked.
_CACHE_SECONDS = 5.0


class MonitoringPilot:
    """``known_pilot`` is the client of an enrolled pilot, and ``unknown`` that of a new one."""

    def __init__(self, known_pilot: httpx.AsyncClient, unknown: httpx.AsyncClient) -> None:
        self._known_pilot = known_pilot
        self._unknown = unknown
        self._pilot = RegisterPilot(
            uid=uuid4(),
            name="spy",
            host="spy",
            slots=1,
            resources=NodeResources(cores=0.001, ram=1, disk=1),
            version="1",
        )

    async def enter(self) -> None:
        await retry(lambda: WmsClient(self._known_pilot).register(self._pilot))

    async def require_refusals(self) -> None:
        """Require that all requests are refused some seconds after the revocation.

        Raises ``SystemViolation``.
        """
        own = f"{API}/pilots/{self._pilot.uid}"
        new = self._pilot.model_copy(update={"uid": uuid4()}).model_dump(mode="json")
        within = _CACHE_SECONDS + FREEZE_SECONDS
        requests = {
            "heartbeat": lambda: self._known_pilot.post(f"{own}/heartbeat", json={}),
            "lease": lambda: self._known_pilot.post(f"{own}/lease", json={"jobs": 1, "wait": 0}),
            "report": lambda: self._known_pilot.post(f"{own}/report", json={"reports": []}),
            "enrolment": lambda: self._unknown.post(f"{API}/pilots", json=new),
        }
        await asyncio.gather(
            *(
                require_refusal(request, f"{what} of a revoked site", within=within)
                for what, request in requests.items()
            )
        )


@asynccontextmanager
async def open_monitoring_pilot(wms_url: str, token: Path) -> AsyncIterator[MonitoringPilot]:
    """Yield a pilot that has enrolled with the token in the file."""
    async with (
        httpx.AsyncClient(base_url=wms_url, timeout=10, auth=PilotAuth(token)) as known_pilot,
        httpx.AsyncClient(base_url=wms_url, timeout=10, auth=PilotAuth(token)) as unknown,
    ):
        spy = MonitoringPilot(known_pilot, unknown)
        await spy.enter()
        yield spy
