"""The pilot as the WMS knows it: registered, and again when the WMS has forgotten it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from uuid import UUID

import httpx
import structlog

from pilot.backoff import Backoff
from pilot.ticks import tick
from pilot.understood import Understood
from sluice.clients.wms import WmsClient
from sluice.contracts.pilots import (
    Heartbeat,
    HeartbeatAnswer,
    JobToken,
    Lease,
    LeaseRequest,
    RegisterPilot,
    Registration,
    StorageUrls,
)
from sluice.contracts.problems import NotFound, ServiceError, Unauthenticated, Unprocessable
from sluice.contracts.secrets import SecretValues
from sluice.contracts.states import SandboxKind

log = structlog.get_logger(__name__)

#: What a WMS answers that does not know the pilot, or its token, any more: it registers again.
FORGOTTEN = (NotFound, Unauthenticated)
#: Seconds between two registrations, at the least.
_PAUSE = 1.0


class WmsSession:
    """``registration`` is there once ``register`` has returned."""

    def __init__(
        self,
        client: WmsClient,
        pilot: RegisterPilot,
        *,
        connect: Callable[[], httpx.AsyncClient] | None = None,
    ) -> None:
        """``connect``: as who may become a pilot; None: the WMS asks nobody who he is."""
        self.client = client
        self._connect = connect
        self.pilot = pilot
        self.registration = Registration(heartbeat=10.0, lease=60.0)
        self._lock = asyncio.Lock()
        self._times = 0
        self._registered_at = -_PAUSE
        self._leases, self._heartbeats = Understood(), Understood()

    @property
    def times(self) -> int:
        """How often it was registered: what ``register_again`` wants to know."""
        return self._times

    async def register(self) -> None:
        """Waits for the WMS as long as it takes."""
        await self.register_again(0)

    async def register_again(self, seen: int) -> None:
        """The WMS did not know the pilot of registration ``seen``; only the first loop that noticed
        does something."""
        async with self._lock:
            if self._times != seen:
                return
            backoff = Backoff(longest=10.0)
            self._leases.forget()
            self._heartbeats.forget()
            await asyncio.sleep(max(0.0, self._registered_at + _PAUSE - tick()))
            while True:
                try:
                    self.registration = await _register(self.client, self.pilot)
                    break
                except ServiceError as error:
                    log.warning(
                        "pilot.not_registered", reason=error.detail, attempt=backoff.count + 1
                    )
                    await backoff.wait()
            self._times += 1
            self._registered_at = tick()
            log.info(
                "pilot.registered",
                times=self._times,
                heartbeat=self.registration.heartbeat,
                lease=self.registration.lease,
            )

    @asynccontextmanager
    async def in_the_name_of(self, earlier: UUID) -> AsyncIterator[WmsClient]:
        """A client that asks as an earlier start of this pilot, which registers again for that
        where the WMS wants to know who asks; it is to sign off. Raises ``ServiceError``."""
        if self._connect is None:
            yield self.client
            return
        async with self._connect() as http:
            client = WmsClient(http)
            await _register(client, self.pilot.model_copy(update={"uid": earlier}))
            yield client

    async def lease(self, request: LeaseRequest) -> Lease:
        """Raises ``ServiceError``. A WMS of the release before does not know of tools that stay
        loaded, or not of rooms either: it compares with the whole node."""
        nothing_loaded = request.model_copy(update={"loaded": []})
        forms = [request, nothing_loaded, nothing_loaded.model_copy(update={"room": None})]
        return await self._leases.send(partial(self.client.lease, self.pilot.uid), forms)

    async def heartbeat(self, heartbeat: Heartbeat) -> HeartbeatAnswer:
        """Raises ``ServiceError``. A WMS of the release before does not know of tools that stay
        loaded, or not of phases either."""
        plain = [job.model_copy(update={"phase": None, "bytes": None}) for job in heartbeat.running]
        nothing_loaded = heartbeat.model_copy(update={"loaded": []})
        forms = [heartbeat, nothing_loaded, nothing_loaded.model_copy(update={"running": plain})]
        return await self._heartbeats.send(partial(self.client.heartbeat, self.pilot.uid), forms)

    async def storages(self) -> StorageUrls:
        """Raises ``ServiceError``; ``NotFound`` also where the WMS is of a release that does not
        tell them."""
        return await self.client.storages(self.pilot.uid)

    async def secrets(self, job: JobToken) -> SecretValues:
        """Raises ``ServiceError``."""
        return await self.client.secrets(self.pilot.uid, job)


async def _register(client: WmsClient, pilot: RegisterPilot) -> Registration:
    """A WMS of the release before refuses what it does not know: there the pilot gets no work
    that needs a container, a sandbox, or what else its node offers."""
    resources = pilot.resources.model_copy(
        update={"devices": [], "named": {}, "labels": {}, "part": None}
    )
    known = pilot.model_copy(
        update={"engines": [], "sandbox": SandboxKind.NONE, "resources": resources}
    )
    try:
        return await client.register(pilot)
    except Unprocessable:
        if known == pilot:
            raise
        log.warning(
            "pilot.not_all_told",
            note="the WMS does not know of containers, sandboxes, devices, named resources or"
            " labels; start this pilot again when it does",
        )
        return await client.register(known)
