"""The pilot as the WMS knows it: registered, and again when the WMS has forgotten it."""

import asyncio
from functools import partial

import structlog

from pilot.backoff import Backoff
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
from sluice.contracts.problems import ServiceError, Unprocessable
from sluice.contracts.secrets import SecretValues
from sluice.contracts.states import SandboxKind

log = structlog.get_logger(__name__)


class WmsSession:
    """``registration`` is there once ``register`` has returned."""

    def __init__(self, client: WmsClient, pilot: RegisterPilot) -> None:
        self.client = client
        self.pilot = pilot
        self.registration = Registration(heartbeat=10.0, lease=60.0)
        self._lock = asyncio.Lock()
        self._times = 0
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
            while True:
                try:
                    self.registration = await self._register()
                    break
                except ServiceError as error:
                    log.warning(
                        "pilot.not_registered", reason=error.detail, attempt=backoff.count + 1
                    )
                    await backoff.wait()
            self._times += 1
            log.info(
                "pilot.registered",
                times=self._times,
                heartbeat=self.registration.heartbeat,
                lease=self.registration.lease,
            )

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

    async def _register(self) -> Registration:
        """A WMS of the release before refuses what it does not know: there the pilot gets no work
        that needs a container, a sandbox, or what else its node offers."""
        resources = self.pilot.resources.model_copy(
            update={"devices": [], "named": {}, "labels": {}, "part": None}
        )
        known = self.pilot.model_copy(
            update={"engines": [], "sandbox": SandboxKind.NONE, "resources": resources}
        )
        try:
            return await self.client.register(self.pilot)
        except Unprocessable:
            if known == self.pilot:
                raise
            log.warning(
                "pilot.not_all_told",
                note="the WMS does not know of containers, sandboxes, devices, named resources or"
                " labels; start this pilot again when it does",
            )
            return await self.client.register(known)
