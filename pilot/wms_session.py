"""Registration of the pilot at the WMS, and its requests."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from uuid import UUID

import httpx
import structlog

from pilot.backoff import Backoff
from pilot.boot_clock import boot_time
from sluice.clients.wms import WmsClient
from sluice.contracts.access.secrets import SecretValues
from sluice.contracts.common.problems import NotFound, ServiceError, Unauthenticated
from sluice.contracts.pilots.heartbeats import Heartbeat, HeartbeatAnswer
from sluice.contracts.pilots.leases import JobToken, Lease, LeaseRequest
from sluice.contracts.pilots.output_files import StorageUrls
from sluice.contracts.pilots.registration import RegisterPilot, Registration

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
        self._registration_count = 0
        self._registered_at = -_PAUSE

    @property
    def registration_count(self) -> int:
        """Return how often the pilot was registered, for ``register_again``."""
        return self._registration_count

    async def register(self) -> None:
        """Register the pilot, and retry until the WMS answers."""
        await self.register_again(0)

    async def register_again(self, number: int) -> None:
        """Register again after the WMS no longer knew registration ``number``.

        Only the first loop that notices this registers.
        """
        async with self._lock:
            if self._registration_count != number:
                return
            backoff = Backoff(max_pause=10.0)
            await asyncio.sleep(max(0.0, self._registered_at + _PAUSE - boot_time()))
            while True:
                try:
                    self.registration = await self.client.register(self.pilot)
                    break
                except ServiceError as error:
                    log.warning(
                        "pilot.not_registered", reason=error.detail, attempt=backoff.count + 1
                    )
                    await backoff.wait()
            self._registration_count += 1
            self._registered_at = boot_time()
            log.info(
                "pilot.registered",
                times=self._registration_count,
                heartbeat=self.registration.heartbeat,
                lease=self.registration.lease,
            )

    @asynccontextmanager
    async def act_as(self, earlier: UUID) -> AsyncIterator[WmsClient]:
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
            await client.register(self.pilot.model_copy(update={"uid": earlier}))
            yield client

    async def lease(self, request: LeaseRequest) -> Lease:
        """Request jobs.

        Raises:
            ServiceError: The request has failed.
        """
        return await self.client.lease(self.pilot.uid, request)

    async def heartbeat(self, heartbeat: Heartbeat) -> HeartbeatAnswer:
        """Send a heartbeat.

        Raises:
            ServiceError: The request has failed.
        """
        return await self.client.send_heartbeat(self.pilot.uid, heartbeat)

    async def storages(self) -> StorageUrls:
        """Return the registered storages.

        Raises:
            ServiceError: The request has failed.
            NotFound: The WMS does not know the pilot.
        """
        return await self.client.list_pilot_storages(self.pilot.uid)

    async def secrets(self, job: JobToken) -> SecretValues:
        """Return the secrets of a job.

        Raises:
            ServiceError: The request has failed.
        """
        return await self.client.get_secrets(self.pilot.uid, job)
