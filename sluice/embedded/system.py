"""The embedded system: all services in one process, behind one port, and pilots as processes."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import structlog
from pydantic import Field

from sluice.clients.dms import DmsClient
from sluice.clients.wms import WmsClient
from sluice.contracts.access.services import SERVICES
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import PilotState, StorageType
from sluice.contracts.data.datasets import NewStorage
from sluice.embedded.access import Access
from sluice.embedded.combined_application import combine_services, guard
from sluice.embedded.home import Home, HomeInUse
from sluice.embedded.home_space import use_reserve_when_full, with_cause
from sluice.embedded.leftover_processes import end_leftover_processes
from sluice.embedded.moved_home import follow_moved_home
from sluice.embedded.pilots import PilotProcesses
from sluice.embedded.port import LOOPBACK, find_loopback, http_address, require_free_port
from sluice.embedded.postgres import EmbeddedPostgres
from sluice.embedded.readiness import PILOTS, PILOTS_REFUSED
from sluice.embedded.services import build_service, hidden_storage_folders
from sluice.process.garbage_collection import disable_garbage_collection, freeze_loaded_objects
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.migrate import SchemaTooOld
from sluice.servicekit.running.lifecycle import Component, start_all, stop_all
from sluice.servicekit.running.service import Service
from sluice.servicekit.running.service_clients import ProcessLinks
from sluice.servicekit.running.service_modules import build_function
from sluice.servicekit.settings import HttpSettings
from sluice.servicekit.settings_sources import SHARED_PREFIX, InvalidSettings, load_settings
from sluice.servicekit.transport.base import Transport
from sluice.servicekit.transport.open import open_transport
from sluice.servicekit.web.server import HttpServer
from sluice.storage import build_local_url, find_local_path

log = structlog.get_logger(__name__)

#: Seconds between two requests for the jobs that a stop waits for.
POLL_PAUSE = 1.0


@dataclass(frozen=True, slots=True)
class SystemOptions:
    """Options of an embedded system."""

    port: int = 8080
    pilots: int = 1
    #: The cores of each pilot. None means that its own settings apply.
    cores: int | None = 1
    #: Places for storages besides the home folder.
    storage_roots: Sequence[str] = ()
    #: Whether requests need authentication.
    auth: bool = True
    host: str = field(default_factory=lambda: find_loopback() or LOOPBACK)


class _HttpSettings(HttpSettings):
    """Settings of the one port of all services.

    The largest bodies are reports of pilots, which contain many jobs.
    """

    largest_body: int = Field(default=64 * 1024 * 1024, ge=64 * 1024)


def _http_settings() -> _HttpSettings:
    try:
        return load_settings(_HttpSettings, prefix=SHARED_PREFIX)
    except InvalidSettings as error:
        raise OSError(str(error)) from error


class EmbeddedSystem:
    """Component with everything of one home folder.

    ``start`` returns when the system is ready, and ``url`` is then its address. ``tell`` is called
    with a message when a pilot does not run.
    """

    def __init__(
        self, home: Home, options: SystemOptions, *, tell: Callable[[str], None] | None = None
    ) -> None:
        self.home = home
        self.options = options
        self._tell = tell or (lambda _: None)
        self.url = ""
        self.transport: Transport | None = None
        self._databases = [*(service.database for service in SERVICES), "transport"]
        self._postgres = EmbeddedPostgres(
            home.database,
            self._databases,
            before_start=partial(use_reserve_when_full, home.reserve),
        )
        self._started: list[Component] = []
        self._pilots: PilotProcesses | None = None
        self._wms: WmsClient | None = None

    async def start(self) -> None:
        """Start the system. After an error, everything that had started is stopped.

        Raises:
            HomeInUse: Another process runs the system of this home.
            PortInUse: The port is in use.
            OSError: A part does not start.
        """
        disable_garbage_collection()
        use_reserve_when_full(self.home.reserve)
        try:
            self.home.open()
            await self._start()
        except HomeInUse:
            raise
        except SchemaTooOld as error:
            await self.stop()
            raise OSError(
                f"the home folder {self.home.root} was made by an earlier version of Sluice, and"
                " this version cannot upgrade it. Nothing was changed. Use the earlier version, or"
                f" choose another home folder with --home ({error.revision} is older than"
                f" {error.oldest_revision})"
            ) from error
        except OSError as error:
            await self.stop()
            raise with_cause(error, self.home.root) from error
        except BaseException:
            await self.stop()
            raise
        finally:
            freeze_loaded_objects()
        self.home.announce(self.url)
        log.info("system.ready", url=self.url, home=str(self.home.root))

    async def stop(self) -> None:
        """Drain the pilots, which takes as long as their jobs, then stop everything else."""
        started, self._started = self._started, []
        await stop_all(started)
        self.home.close()

    def hurry(self) -> None:
        """Make a stop hand back the jobs that pilots run."""
        if self._pilots is not None:
            self._pilots.hurry()

    async def jobs_at_work(self) -> int:
        """Return the number of jobs that pilots have now, or 0 if it is unknown."""
        if self._wms is None or self._pilots is None or not self._pilots.at_work:
            return 0
        try:
            async with asyncio.timeout(POLL_PAUSE):
                pilots = (await self._wms.list_pilots()).pilots
        except (ServiceError, TimeoutError):
            return 0
        return sum(pilot.leased + pilot.running for pilot in pilots)

    def database_url(self, database: str) -> str:
        """Return the URL of a database of the running system."""
        return self._postgres.url(database)

    async def _start(self) -> None:
        http = _http_settings()
        await require_free_port(self.options.host, self.options.port)
        leftovers, survivors = await asyncio.to_thread(end_leftover_processes, self.home)
        if leftovers:
            log.warning("system.leftovers_stopped", processes=list(map(str, leftovers)))
        if survivors:
            raise OSError(
                "a killed system has left processes that cannot be stopped:"
                f" {', '.join(map(str, survivors))}"
            )
        postgres = self._postgres
        imports = asyncio.create_task(asyncio.to_thread(_import_services))
        await self._start_component(postgres)
        await follow_moved_home(self.home, self._databases, postgres.url)
        await imports
        self.transport = transport = open_transport(postgres.url("transport"), sluice_topology())
        await self._start_component(transport)
        links = ProcessLinks()
        await self._start_component(links)
        services: dict[str, Service] = {
            name: build_service(
                name,
                database_url=postgres.url(name.database),
                links=links.of(name),
                transport=transport,
                home=self.home,
                storage_roots=self.options.storage_roots,
                pilots=self.options.pilots,
            )
            for name in SERVICES
        }
        links.apps.update({name: service.app for name, service in services.items()})
        await self._start_component(_ParallelComponents(list(services.values())))
        self._wms = WmsClient(links.http("wms"))
        access = Access(self.home) if self.options.auth else None
        server = HttpServer(
            guard(combine_services(services, links, self._pilot_states), access, services),
            host=self.options.host,
            port=self.options.port,
            limits=http.limits(settings=SHARED_PREFIX),
            connections=http.connections,
        )
        server.refusals.count_in(services["wfms.operator"].metrics)
        await self._start_component(server)
        self.url = http_address(self.options.host, server.port)
        if access is not None:
            await self._start_component(access.set_address(self.url))
        dms = DmsClient(links.http("dms"))
        await self._register_storages(dms)
        self._pilots = PilotProcesses(
            wms_url=f"{self.url}/services/wms",
            count=self.options.pilots,
            cores=self.options.cores,
            home=self.home,
            storages=await self._storages(dms),
            tell=self._tell,
            token=None if access is None else self.home.pilot_token,
        )
        await self._start_component(self._pilots)

    async def _pilot_states(self) -> dict[str, dict[str, str]]:
        """Return the report about pilots for ``readyz``."""
        if self._wms is None or self._pilots is None:
            return {PILOTS: {}}
        states = await self._pilots.states(self._wms)
        refusals = self._pilots.refusals
        if refusals and not await _others_at_work(self._wms):
            return {PILOTS: states, PILOTS_REFUSED: refusals}
        return {PILOTS: states}

    async def _start_component(self, component: Component) -> None:
        await start_all([component])
        self._started.append(component)

    async def _register_storages(self, dms: DmsClient) -> None:
        for kind in StorageType:
            url = build_local_url(self.home.storage(kind))
            await dms.register_storage(
                NewStorage(name=f"embedded-{kind.value}", type=kind, url=url)
            )

    async def _storages(self, dms: DmsClient) -> list[Path]:
        """Return the folders of this machine for storages that tools must not see."""
        folders = [find_local_path(storage.url) for storage in await dms.list_storages(all=True)]
        later = hidden_storage_folders(
            self.home, self.options.storage_roots, database_url=self._postgres.url("dms")
        )
        return [*(Path(place) for place in folders if place is not None), *later]


class _ParallelComponents:
    """Components that start at the same time, so that six migrations take the time of one."""

    def __init__(self, components: list[Service]) -> None:
        self._components = components

    async def start(self) -> None:
        await asyncio.gather(*(component.start() for component in self._components))

    async def stop(self) -> None:
        await asyncio.gather(*(component.stop() for component in self._components))


async def _others_at_work(wms: WmsClient) -> bool:
    """Return whether pilots work that this system did not start."""
    try:
        return any(pilot.state is PilotState.ACTIVE for pilot in (await wms.list_pilots()).pilots)
    except ServiceError:
        return True


def _import_services() -> None:
    """Import the services while the database starts."""
    for name in SERVICES:
        build_function(name)
