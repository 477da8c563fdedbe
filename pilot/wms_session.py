"""Registration of the pilot at the WMS, and its requests."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from uuid import UUID

import httpx
import structlog

from pilot.backoff import Backoff
from pilot.boot_clock import boot_time
from pilot.version_fallback import VersionFallback
from sluice.clients.wms import WmsClient
from sluice.contracts.access.secrets import SecretValues
from sluice.contracts.common.problems import NotFound, ServiceError, Unauthenticated, Unprocessable
from sluice.contracts.common.states import SandboxKind
from sluice.contracts.pilots.pilots import (
    Heartbeat,
    HeartbeatAnswer,
    JobToken,
    Lease,
    LeaseRequest,
    RegisterPilot,
    Registration,
    StorageUrls,
)

log = structlog.get_logger(__name__)

#: Errors of a WMS that no longer knows the pilot or its token. The pilot registers again.
FORGOTTEN = (NotFound, Unauthenticated)
#: Minimum seconds between two registrations.
_PAUSE = 1.0


class WmsSession:
    """The registration of the pilot and its client.

    ``registration`` is valid once ``register`` has returned.
    """

    def __init__(
        self,
        client: WmsClient,
        pilot: RegisterPilot,
        *,
        connect: Callable[[], httpx.AsyncClient] | None = None,
    ) -> None:
        """Create a session that is not registered.

        ``connect`` opens a connection that may register a pilot, or is None if the WMS needs no
        authentication.
        """
        self.client = client
        self._connect = connect
        self.pilot = pilot
        self.registration = Registration(heartbeat=10.0, lease=60.0)
        self._lock = asyncio.Lock()
        self._times = 0
        self._registered_at = -_PAUSE
        self._leases, self._heartbeats = VersionFallback(), VersionFallback()

    @property
    def times(self) -> int:
        """Return how often the pilot was registered, for ``register_again``."""
        return self._times

    async def register(self) -> None:
        """Register the pilot, and retry until the WMS answers."""
        await self.register_again(0)

    async def register_again(self, seen: int) -> None:
        """Register again after the WMS no longer knew the registration number ``seen``.

        Only the first loop that notices this registers.
        """
        async with self._lock:
            if self._times != seen:
                return
            backoff = Backoff(longest=10.0)
            self._leases.forget()
            self._heartbeats.forget()
            await asyncio.sleep(max(0.0, self._registered_at + _PAUSE - boot_time()))
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
            self._registered_at = boot_time()
            log.info(
                "pilot.registered",
                times=self._times,
                heartbeat=self.registration.heartbeat,
                lease=self.registration.lease,
            )

    @asynccontextmanager
    async def in_the_name_of(self, earlier: UUID) -> AsyncIterator[WmsClient]:
        """Yield a client that makes requests as an earlier run of this pilot.

        If the WMS needs authentication, the run is registered again. The caller must sign it off.

        Raises:
            ServiceError: The run could not be registered.
        """
        if self._connect is None:
            yield self.client
            return
        async with self._connect() as http:
            client = WmsClient(http)
            await _register(client, self.pilot.model_copy(update={"uid": earlier}))
            yield client

    async def lease(self, request: LeaseRequest) -> Lease:
        """Request jobs.

        Version fallback: a WMS of an earlier release does not know warm workers, or not even rooms.
        It compares jobs with the whole node then.

        Raises:
            ServiceError: The request has failed.
        """
        nothing_loaded = request.model_copy(update={"loaded": []})
        forms = [request, nothing_loaded, nothing_loaded.model_copy(update={"room": None})]
        return await self._leases.send(partial(self.client.lease, self.pilot.uid), forms)

    async def heartbeat(self, heartbeat: Heartbeat) -> HeartbeatAnswer:
        """Send a heartbeat.

        Version fallback: a WMS of an earlier release does not know warm workers, or not even
        phases.

        Raises:
            ServiceError: The request has failed.
        """
        plain = [job.model_copy(update={"phase": None, "bytes": None}) for job in heartbeat.running]
        nothing_loaded = heartbeat.model_copy(update={"loaded": []})
        forms = [heartbeat, nothing_loaded, nothing_loaded.model_copy(update={"running": plain})]
        return await self._heartbeats.send(partial(self.client.heartbeat, self.pilot.uid), forms)

    async def storages(self) -> StorageUrls:
        """Return the registered storages.

        Raises:
            ServiceError: The request has failed.
            NotFound: The WMS does not know the pilot, or its release does not have this request.
        """
        return await self.client.storages(self.pilot.uid)

    async def secrets(self, job: JobToken) -> SecretValues:
        """Return the secrets of a job.

        Raises:
            ServiceError: The request has failed.
        """
        return await self.client.secrets(self.pilot.uid, job)


async def _register(client: WmsClient, pilot: RegisterPilot) -> Registration:
    """Register the pilot.

    Version fallback: a WMS of the previous release refuses unknown fields. The pilot then gets no
    work that needs a container, a sandbox or other special resources of its node.
    """
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
