"""Every service in one process, on an embedded PostgreSQL, behind one port; pilots beside it as
processes.
"""

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import structlog
from pydantic import Field
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.clients.dms import DmsClient
from sluice.clients.wms import WmsClient
from sluice.contracts.datasets import NewStorage
from sluice.contracts.problems import ServiceError
from sluice.contracts.states import PilotState, StorageType
from sluice.embedded.access import Access
from sluice.embedded.home import Home, HomeBusy
from sluice.embedded.home_space import use_reserve_when_full, with_cause
from sluice.embedded.moved_home import follow_moved_home
from sluice.embedded.pilots import PilotProcesses
from sluice.embedded.port import LOOPBACK, find_loopback, http_address, require_free_port
from sluice.embedded.postgres import EmbeddedPostgres
from sluice.embedded.readiness import OK, PILOTS, READY_PATH, REFUSED, STARTING
from sluice.embedded.remains import end_remains
from sluice.embedded.services import SERVICES, build_service, hidden_storage_folders
from sluice.embedded.watch import watch_home
from sluice.garbage_collection import keep_what_is_loaded, look_for_none
from sluice.servicekit.access.entrance import open_to_anybody
from sluice.servicekit.lifecycle import Component, cancel_and_wait, start_all, stop_all
from sluice.servicekit.logging import configure_logging
from sluice.servicekit.queue_topology import sluice_topology
from sluice.servicekit.server import HttpServer
from sluice.servicekit.service import Service
from sluice.servicekit.service_clients import ProcessLinks
from sluice.servicekit.settings import HttpSettings
from sluice.servicekit.settings_sources import SHARED_PREFIX, WrongSettings, load_settings
from sluice.servicekit.signals import StopAsked
from sluice.servicekit.transport.base import Transport
from sluice.servicekit.transport.open import open_transport
from sluice.storage import local_path, local_url

log = structlog.get_logger(__name__)

#: Seconds between two looks at what is waited for at the end.
LOOK = 1.0


@dataclass(frozen=True, slots=True)
class SystemOptions:
    port: int = 8080
    pilots: int = 1
    #: Of each pilot; None: as its own settings say.
    cores: int | None = 1
    #: Where storages may lie besides the home folder.
    storage_roots: Sequence[str] = ()
    #: Whoever reaches the port has to say who he is.
    auth: bool = True
    host: str = field(default_factory=lambda: find_loopback() or LOOPBACK)


@dataclass(frozen=True, slots=True)
class Conduct:
    """How a system is run as a process. ``on_ready``: called with its address; ``on_wait``: with
    the number of jobs that the end waits for, when that changes. ``drain_timeout``: seconds, None:
    as long as they take. ``while_used``: the system stops when nobody uses it any more.
    """

    on_ready: Callable[[str], None]
    on_wait: Callable[[int], None]
    log_level: str = "INFO"
    drain_timeout: float | None = None
    while_used: bool = False


class _HttpSettings(HttpSettings):
    """All services stand behind one port; the largest bodies are pilots' reports, which carry many
    jobs.
    """

    largest_body: int = Field(default=64 * 1024 * 1024, ge=64 * 1024)


def _http_settings() -> _HttpSettings:
    try:
        return load_settings(_HttpSettings, prefix=SHARED_PREFIX)
    except WrongSettings as error:
        raise OSError(str(error)) from error


class EmbeddedSystem:
    """Component: everything of one home folder. ``start`` returns when it can be worked with, and
    ``url`` says where. ``tell``: called with a sentence when a pilot does not run.
    """

    def __init__(
        self, home: Home, options: SystemOptions, *, tell: Callable[[str], None] | None = None
    ) -> None:
        self.home = home
        self.options = options
        self._tell = tell or (lambda _: None)
        self.url = ""
        self.transport: Transport | None = None
        self._databases = [*(part.database for part in SERVICES.values()), "transport"]
        self._postgres = EmbeddedPostgres(
            home.database,
            self._databases,
            before_start=partial(use_reserve_when_full, home.reserve),
        )
        self._started: list[Component] = []
        self._pilots: PilotProcesses | None = None
        self._wms: WmsClient | None = None

    async def start(self) -> None:
        """Raises ``HomeBusy``, ``PortTaken``, ``OSError``; what had started is stopped again."""
        look_for_none()
        use_reserve_when_full(self.home.reserve)
        try:
            self.home.open()
            await self._start()
        except HomeBusy:
            raise
        except OSError as error:
            await self.stop()
            raise with_cause(error, self.home.root) from error
        except BaseException:
            await self.stop()
            raise
        finally:
            keep_what_is_loaded()
        self.home.announce(self.url)
        log.info("system.ready", url=self.url, home=str(self.home.root))

    async def stop(self) -> None:
        """Pilots are drained first, which takes as long as the jobs that they run; then the
        services end, the database last.
        """
        started, self._started = self._started, []
        await stop_all(started)
        self.home.close()

    def hurry(self) -> None:
        """What pilots run is handed back by a stop."""
        if self._pilots is not None:
            self._pilots.hurry()

    async def jobs_at_work(self) -> int:
        """That pilots have now; 0 where nobody can tell."""
        if self._wms is None or self._pilots is None or not self._pilots.at_work:
            return 0
        try:
            async with asyncio.timeout(LOOK):
                pilots = (await self._wms.pilots()).pilots
        except (ServiceError, TimeoutError):
            return 0
        return sum(pilot.leased + pilot.running for pilot in pilots)

    def database_url(self, database: str) -> str:
        """Of one of the system's databases, while it runs."""
        return self._postgres.url(database)

    async def _start(self) -> None:
        http = _http_settings()
        await require_free_port(self.options.host, self.options.port)
        left, going_on = await asyncio.to_thread(end_remains, self.home)
        if left:
            log.warning("system.remains_ended", processes=list(map(str, left)))
        if going_on:
            raise OSError(
                f"a killed system has left what cannot be stopped: {', '.join(map(str, going_on))}"
            )
        postgres = self._postgres
        imports = asyncio.create_task(asyncio.to_thread(_import_services))
        await self._begin(postgres)
        await follow_moved_home(self.home, self._databases, postgres.url)
        await imports
        self.transport = transport = open_transport(postgres.url("transport"), sluice_topology())
        await self._begin(transport)
        links = ProcessLinks()
        await self._begin(links)
        services = {
            name: build_service(
                name,
                database_url=postgres.url(part.database),
                links=links.of(name),
                transport=transport,
                home=self.home,
                storage_roots=self.options.storage_roots,
                pilots=self.options.pilots,
            )
            for name, part in SERVICES.items()
        }
        links.apps.update({name: service.app for name, service in services.items()})
        await self._begin(_Together(list(services.values())))
        self._wms = WmsClient(links.http("wms"))
        access = Access(self.home) if self.options.auth else None
        server = HttpServer(
            _guarded(_one_port(services, links, self._pilot_states), access, services),
            host=self.options.host,
            port=self.options.port,
            limits=http.limits(settings=SHARED_PREFIX),
            connections=http.connections,
        )
        server.refusals.count_in(services["wfms.operator"].metrics)
        await self._begin(server)
        self.url = http_address(self.options.host, server.port)
        if access is not None:
            await self._begin(access.at(self.url))
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
        await self._begin(self._pilots)

    async def _pilot_states(self) -> dict[str, dict[str, str]]:
        """Return what ``readyz`` says of pilots."""
        if self._wms is None or self._pilots is None:
            return {PILOTS: {}}
        states = await self._pilots.states(self._wms)
        refused = self._pilots.refusals
        if refused and not await _others_at_work(self._wms):
            return {PILOTS: states, REFUSED: refused}
        return {PILOTS: states}

    async def _begin(self, component: Component) -> None:
        await start_all([component])
        self._started.append(component)

    async def _register_storages(self, dms: DmsClient) -> None:
        for kind in StorageType:
            url = local_url(self.home.storage(kind))
            await dms.register_storage(
                NewStorage(name=f"embedded-{kind.value}", type=kind, url=url)
            )

    async def _storages(self, dms: DmsClient) -> list[Path]:
        """Return the folders of this machine where storages lie, or may lie in what tools see."""
        found = [local_path(storage.url) for storage in await dms.storages(everything=True)]
        later = hidden_storage_folders(
            self.home, self.options.storage_roots, database_url=self._postgres.url("dms")
        )
        return [*(Path(place) for place in found if place is not None), *later]


class _Together:
    """Components that start at the same time, so that six migrations cost the time of one."""

    def __init__(self, components: list[Service]) -> None:
        self._components = components

    async def start(self) -> None:
        await asyncio.gather(*(component.start() for component in self._components))

    async def stop(self) -> None:
        await asyncio.gather(*(component.stop() for component in self._components))


async def _others_at_work(wms: WmsClient) -> bool:
    """Return whether pilots work that this system did not start."""
    try:
        return any(pilot.state is PilotState.ACTIVE for pilot in (await wms.pilots()).pilots)
    except ServiceError:
        return True


def _import_services() -> None:
    """While the database starts."""
    for name in SERVICES:
        importlib.import_module(f"{name}.wiring")


def _one_port(
    services: dict[str, Service],
    links: ProcessLinks,
    pilot_states: Callable[[], Awaitable[dict[str, dict[str, str]]]],
) -> Starlette:
    """The operator's pages at the root, every other service below ``/services/<its name>``."""
    clients = {name: links.http(name) for name in services}

    async def readyz(request: Request) -> JSONResponse:
        answers = await asyncio.gather(*(client.get("/readyz") for client in clients.values()))
        report = {name: answer.json() for name, answer in zip(clients, answers, strict=True)}
        pilots = await pilot_states()
        ready = all(answer.is_success for answer in answers) and {OK, STARTING}.issuperset(
            pilots[PILOTS].values()
        )
        return JSONResponse({**report, **pilots}, status_code=200 if ready else 503)

    others = [
        Mount(f"/services/{name.removeprefix('wfms.')}", service.app)
        for name, service in services.items()
        if name != "wfms.operator"
    ]
    pages = _PeoplesPages(services["wfms.operator"].app, services["wfms.ask"].app)
    return Starlette(routes=[Route(READY_PATH, readyz), *others, Mount("/", pages)])


class _PeoplesPages:
    """ASGI application: the operator's pages, and those on which people answer, which have the same
    addresses as where their service is alone.
    """

    def __init__(self, operator: ASGIApp, ask: ASGIApp) -> None:
        self._operator, self._ask = operator, ask

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asks = scope["type"] == "http" and scope["path"].startswith("/ask/")
        await (self._ask if asks else self._operator)(scope, receive, send)


def _guarded(app: ASGIApp, access: Access | None, services: Mapping[str, Service]) -> ASGIApp:
    """``access``: None: whoever reaches it may do everything."""
    if access is None:
        return open_to_anybody(app)
    reception = services["wfms.operator"].reception
    if reception is None:
        raise TypeError("the operator service keeps no accounts of people")
    others = [service.authenticator for service in services.values() if service.authenticator]
    return access.guard(app, others, reception)


async def run_until_signal(system: EmbeddedSystem, conduct: Conduct) -> None:
    """Run the system until SIGTERM or SIGINT, and then until the jobs that run have ended.

    Another signal or the drain timeout: jobs are handed back. So are they when nobody uses the
    system any more, or when its home folder has gone. Raises as ``EmbeddedSystem.start``.
    """
    configure_logging("sluice", level=conduct.log_level)
    stop = StopAsked()
    stop.listen()
    watch = watch_home(system.home, stop, while_used=conduct.while_used)
    watching = asyncio.create_task(watch, name="watch the home folder")
    starting = asyncio.create_task(system.start(), name="start")
    asked = asyncio.create_task(stop.asked.wait(), name="wait for a signal")
    try:
        await asyncio.wait([starting, asked], return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            await cancel_and_wait(starting)
            return
        await starting
        conduct.on_ready(system.url)
        await asked
        await _stop(system, stop, conduct)
    finally:
        watching.cancel()


async def _stop(system: EmbeddedSystem, stop: StopAsked, conduct: Conduct) -> None:
    stopping = asyncio.create_task(system.stop(), name="stop")
    hurried = asyncio.create_task(stop.at_once.wait(), name="wait for another signal")
    if conduct.drain_timeout is not None:
        asyncio.get_running_loop().call_later(conduct.drain_timeout, stop.hurry)
    announced = 0
    while not stopping.done() and not hurried.done():
        await asyncio.wait([stopping, hurried], timeout=LOOK, return_when=asyncio.FIRST_COMPLETED)
        jobs = await system.jobs_at_work()
        if jobs and jobs != announced:
            announced = jobs
            conduct.on_wait(jobs)
    if hurried.done():
        system.hurry()
    hurried.cancel()
    await stopping
