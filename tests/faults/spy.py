"""A pilot of a site that takes no jobs, and tells what it is answered."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import httpx

from sluice.clients.base import API
from sluice.clients.wms import WmsClient
from sluice.contracts.pilots import NodeResources, RegisterPilot
from sluice.pilot_access.auth import PilotAuth
from tests.faults.asking import FROZEN, insist, refused

#: Seconds for which the WMS may not know that a site was revoked.
_REMEMBERED = 5.0


class Spy:
    """``known``: as a pilot that has enrolled; ``unknown``: as one that wants to."""

    def __init__(self, known: httpx.AsyncClient, unknown: httpx.AsyncClient) -> None:
        self._known = known
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
        await insist(lambda: WmsClient(self._known).register(self._pilot))

    async def is_nobody(self) -> None:
        """From some seconds after the site was revoked on. Raises ``WentWrong``."""
        own = f"{API}/pilots/{self._pilot.uid}"
        new = self._pilot.model_copy(update={"uid": uuid4()}).model_dump(mode="json")
        within = _REMEMBERED + FROZEN
        asks = {
            "heartbeat": lambda: self._known.post(f"{own}/heartbeat", json={}),
            "lease": lambda: self._known.post(f"{own}/lease", json={"jobs": 1, "wait": 0}),
            "report": lambda: self._known.post(f"{own}/report", json={"reports": []}),
            "enrolment": lambda: self._unknown.post(f"{API}/pilots", json=new),
        }
        await asyncio.gather(
            *(
                refused(ask, f"{what} of a revoked site", within=within)
                for what, ask in asks.items()
            )
        )


@asynccontextmanager
async def spying(wms_url: str, token: Path) -> AsyncIterator[Spy]:
    """One that has enrolled with the token in the file."""
    async with (
        httpx.AsyncClient(base_url=wms_url, timeout=10, auth=PilotAuth(token)) as known,
        httpx.AsyncClient(base_url=wms_url, timeout=10, auth=PilotAuth(token)) as unknown,
    ):
        spy = Spy(known, unknown)
        await spy.enter()
        yield spy
