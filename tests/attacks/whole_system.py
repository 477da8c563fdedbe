"""Run all services in this process on databases of a real PostgreSQL, and send requests as any
caller."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import asyncpg
import httpx

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import SERVICES, CallingService
from sluice.embedded.home import Home
from sluice.embedded.services import build_service
from sluice.servicekit.access.principal import (
    Person,
    PilotCaller,
    Principal,
    ScraperCaller,
    ServiceCaller,
)
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.running.service_clients import ProcessLinks
from sluice.servicekit.transport.open import open_transport
from tests.servers.databases import create_database, drop_database
from tests.servers.postgres import PostgresServer

#: Seconds for each request.
REQUEST_TIMEOUT = 60.0
#: UUIDs of the registered pilot and of another pilot.
PILOT, OTHER_PILOT = UUID(int=1), UUID(int=2)

#: Callers, from the least permissions to the most.
CALLERS: dict[str, Principal | None] = {
    "nobody": None,
    "scraper": ScraperCaller(),
    "enrolled": PilotCaller(),
    "another pilot": PilotCaller(OTHER_PILOT),
    "the pilot": PilotCaller(PILOT),
    **{role: Person("anna", role) for role in Role},
    **{f"service:{service}": ServiceCaller(service) for service in CallingService},
}

Result = TypeVar("Result")


@dataclass(slots=True)
class WholeSystem:
    """All services. ``databases`` has their URLs by service."""

    home: Home
    databases: dict[str, str]
    links: ProcessLinks = field(default_factory=ProcessLinks)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _clients: dict[tuple[str, str], httpx.AsyncClient] = field(default_factory=dict)

    def run_coroutine(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run the coroutine on the event loop of the services, in another thread."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(REQUEST_TIMEOUT)

    def send_request(
        self, caller: str, service: str, request: httpx.Request, **more: Any
    ) -> httpx.Response:
        """Send a request as ``caller``, one of ``CALLERS``."""
        return self.run_coroutine(self._open_client(caller, service).send(request, **more))

    def request_json(
        self,
        service: str,
        method: str,
        path: str,
        body: Any = None,
        *,
        caller: str = "admin",
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Send a request that has to succeed, and return the answer."""
        request = httpx.Request(method, f"http://{service}{path}", json=body, headers=headers)
        answer = self.send_request(caller, service, request)
        assert answer.is_success, (method, path, answer.text)
        return answer.json() if answer.content else None

    def fetch_rows(self, service: str, statement: str, *values: Any) -> list[dict[str, Any]]:
        return self.run_coroutine(_fetch_rows(self.databases[service], statement, values))

    def _open_client(self, caller: str, service: str) -> httpx.AsyncClient:
        if (caller, service) not in self._clients:
            principal = CALLERS[caller]
            self._clients[caller, service] = (
                httpx.AsyncClient(
                    transport=httpx.ASGITransport(
                        self.links.apps[service], raise_app_exceptions=False
                    ),
                    base_url=f"http://{service}",
                )
                if principal is None
                else self.links.http_of(principal, service)
            )
        return self._clients[caller, service]


async def _fetch_rows(url: str, statement: str, values: tuple[Any, ...]) -> list[dict[str, Any]]:
    connection = await asyncpg.connect(url)
    try:
        return [dict(row) for row in await connection.fetch(statement, *values)]
    finally:
        await connection.close()


@contextmanager
def open_whole_system(server: PostgresServer, folder: Path) -> Iterator[WholeSystem]:
    """Run all services with their loops and consumers, with storages in ``folder``."""
    with ExitStack() as ends:
        system = WholeSystem(Home(folder), {})
        thread = threading.Thread(target=system.loop.run_forever, name="services", daemon=True)
        thread.start()
        ends.callback(_stop_loop, system.loop, thread)
        system.home.open()
        ends.callback(system.home.close)
        system.databases = system.run_coroutine(_create_databases(server))
        ends.callback(lambda: system.run_coroutine(_drop_databases(server, system.databases)))
        stop, ready = asyncio.Event(), threading.Event()
        serving = asyncio.run_coroutine_threadsafe(_serve_all(system, ready, stop), system.loop)
        ends.callback(serving.result, REQUEST_TIMEOUT)
        ends.callback(system.loop.call_soon_threadsafe, stop.set)
        while not ready.wait(1.0):
            if serving.done():
                serving.result()
        yield system


def _stop_loop(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


async def _serve_all(system: WholeSystem, ready: threading.Event, stop: asyncio.Event) -> None:
    transport = open_transport(system.databases["transport"], sluice_topology())
    services = {
        name: build_service(
            name,
            database_url=system.databases[name],
            links=system.links.of(name),
            transport=transport,
            home=system.home,
        )
        for name in SERVICES
    }
    system.links.apps.update({name: service.app for name, service in services.items()})
    async with running(transport, system.links, *services.values()):
        ready.set()
        await stop.wait()


async def _create_databases(server: PostgresServer) -> dict[str, str]:
    databases = {name: await create_database(server, f"{name}.db.migrations") for name in SERVICES}
    return databases | {"transport": await create_database(server)}


async def _drop_databases(server: PostgresServer, databases: dict[str, str]) -> None:
    for url in databases.values():
        await drop_database(server, url)
