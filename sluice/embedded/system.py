"""Every service in one process, on an embedded PostgreSQL, behind one port; pilots beside it as processes."""

import asyncio
import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from sluice.clients.dms import DmsClient
from sluice.contracts.datasets import NewStorage
from sluice.contracts.states import StorageType
from sluice.embedded.home import Home, RunningSystem
from sluice.embedded.pilots import PilotProcesses
from sluice.embedded.postgres import EmbeddedPostgres
from sluice.embedded.services import SERVICES, build_service
from sluice.garbage import keep_what_is_loaded, look_for_none
from sluice.servicekit.lifecycle import Component, start_all, stop_all
from sluice.servicekit.links import ProcessLinks
from sluice.servicekit.logging import configure_logging
from sluice.servicekit.server import HttpServer
from sluice.servicekit.service import Service
from sluice.servicekit.signals import until_signal
from sluice.servicekit.topology import sluice_topology
from sluice.servicekit.transport.base import Transport
from sluice.servicekit.transport.open import open_transport
from sluice.storage import local_url

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Options:
    host: str = "127.0.0.1"
    port: int = 8080
    pilots: int = 1
    slots: int = 1


class EmbeddedSystem:
    """Component: everything of one home folder. ``start`` returns when it can be worked with, and ``url`` says where."""

    def __init__(self, home: Home, options: Options) -> None:
        self.home = home
        self.options = options
        self.url = ""
        self.transport: Transport | None = None
        self._postgres = EmbeddedPostgres(home.database, [*(part.database for part in SERVICES.values()), "transport"])
        self._started: list[Component] = []

    async def start(self) -> None:
        """Raises ``HomeBusy``, ``OSError`` (port taken); what had started is stopped again."""
        look_for_none()
        self.home.open()
        try:
            await self._start()
        except BaseException:
            await self.stop()
            raise
        finally:
            keep_what_is_loaded()
        self.home.announce(RunningSystem(os.getpid(), self.url, datetime.now(UTC).isoformat(timespec="seconds")))
        log.info("system.ready", url=self.url, home=str(self.home.root))

    async def stop(self) -> None:
        """Pilots are drained first; then the services end, the database last."""
        started, self._started = self._started, []
        await stop_all(started)
        self.home.close()

    def database_url(self, database: str) -> str:
        """Of one of the system's databases, while it runs."""
        return self._postgres.url(database)

    async def _start(self) -> None:
        postgres = self._postgres
        imports = asyncio.create_task(asyncio.to_thread(_import_services))
        await self._begin(postgres)
        await imports
        self.transport = transport = open_transport(postgres.url("transport"), sluice_topology())
        await self._begin(transport)
        links = ProcessLinks()
        await self._begin(links)
        services = {
            name: build_service(name, database_url=postgres.url(part.database), links=links, transport=transport, home=self.home)
            for name, part in SERVICES.items()
        }
        links.apps.update({name: service.app for name, service in services.items()})
        await self._begin(_Together(list(services.values())))
        server = HttpServer(_one_port(services, links), host=self.options.host, port=self.options.port)
        await self._begin(server)
        self.url = f"http://{self.options.host}:{server.port}"
        await self._register_storages(DmsClient(links.http("dms")))
        await self._begin(
            PilotProcesses(
                wms_url=f"{self.url}/services/wms",
                count=self.options.pilots,
                slots=self.options.slots,
                work=self.home.pilots,
                logs=self.home.logs,
            )
        )

    async def _begin(self, component: Component) -> None:
        await start_all([component])
        self._started.append(component)

    async def _register_storages(self, dms: DmsClient) -> None:
        for kind in StorageType:
            folder = self.home.storages / kind.value
            folder.mkdir(parents=True, exist_ok=True)
            await dms.register_storage(NewStorage(name=f"embedded-{kind.value}", type=kind, url=local_url(folder)))


class _Together:
    """Components that start at the same time, so that six migrations cost the time of one."""

    def __init__(self, components: list[Service]) -> None:
        self._components = components

    async def start(self) -> None:
        await asyncio.gather(*(component.start() for component in self._components))

    async def stop(self) -> None:
        await asyncio.gather(*(component.stop() for component in self._components))


def _import_services() -> None:
    """While the database starts."""
    for name in SERVICES:
        importlib.import_module(f"{name}.wiring")


def _one_port(services: dict[str, Service], links: ProcessLinks) -> Starlette:
    """The operator's pages at the root, every other service below ``/services/<its name>``."""
    clients = {name: links.http(name) for name in services}

    async def readyz(request: Request) -> JSONResponse:
        answers = await asyncio.gather(*(client.get("/readyz") for client in clients.values()))
        report = {name: answer.json() for name, answer in zip(clients, answers, strict=True)}
        return JSONResponse(report, status_code=200 if all(answer.is_success for answer in answers) else 503)

    others = [
        Mount(f"/services/{name.removeprefix('wfms.')}", service.app)
        for name, service in services.items()
        if name != "wfms.operator"
    ]
    return Starlette(routes=[Route("/system/readyz", readyz), *others, Mount("/", services["wfms.operator"].app)])


async def run_until_signal(system: EmbeddedSystem, *, on_ready: Callable[[str], None], log_level: str) -> None:
    """Runs the system until SIGTERM or SIGINT."""
    configure_logging("sluice", level=log_level)
    await system.start()
    try:
        on_ready(system.url)
        await until_signal()
    finally:
        await system.stop()
