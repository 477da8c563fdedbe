"""A service, wired: its application and its background components; and how to run one as a process."""

import asyncio
import contextlib
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import structlog
import uvicorn
from starlette.types import ASGIApp

from sluice.servicekit.lifecycle import Component, running, start_all, stop_all
from sluice.servicekit.links import Links, NetworkLinks
from sluice.servicekit.logging import configure_logging
from sluice.servicekit.settings import ServiceSettings
from sluice.servicekit.topology import sluice_topology
from sluice.servicekit.transport.base import Transport
from sluice.servicekit.transport.open import open_transport

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Service:
    """``components`` are started in order, before the application answers, and stopped in reverse after it."""

    name: str
    app: ASGIApp
    components: Sequence[Component] = field(default_factory=list)

    async def start(self) -> None:
        await start_all(self.components)

    async def stop(self) -> None:
        await stop_all(self.components)


_Settings = TypeVar("_Settings", bound=ServiceSettings)
_Settings_contra = TypeVar("_Settings_contra", bound=ServiceSettings, contravariant=True)


class Build(Protocol[_Settings_contra]):
    """A service's ``wiring.build``: makes the service, starts nothing."""

    def __call__(self, settings: _Settings_contra, *, links: Links, transport: Transport) -> Service: ...


class HttpServer:
    """uvicorn as a component; ``start`` returns when it accepts connections."""

    def __init__(self, app: ASGIApp, *, host: str, port: int) -> None:
        config = uvicorn.Config(
            app, host=host, port=port, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=5
        )
        self._server = uvicorn.Server(config)
        self._server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment] # signals are the process's own
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Raises ``OSError`` when the port is taken."""
        self._task = asyncio.create_task(self._server.serve(), name="http server")
        while not self._server.started:
            if self._task.done():
                raise OSError(f"cannot listen on {self._server.config.host}:{self._server.config.port}")
            await asyncio.sleep(0.01)

    @property
    def port(self) -> int:
        """The port it listens on (chosen by the system when 0 was asked for)."""
        return int(self._server.servers[0].sockets[0].getsockname()[1])

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            self._server.should_exit = True
            await asyncio.gather(task, return_exceptions=True)


async def until_signal() -> str:
    """Waits for SIGTERM or SIGINT; gives its name."""
    loop = asyncio.get_running_loop()
    received: asyncio.Future[str] = loop.create_future()

    def note(name: str) -> None:
        if not received.done():
            received.set_result(name)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, note, number.name)
    try:
        return await received
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


def run_service(name: str, settings: _Settings, build: Build[_Settings]) -> None:
    """Runs a service as a process until SIGTERM or SIGINT; what is in hand is finished or handed back."""
    configure_logging(name, level=settings.log_level)
    asyncio.run(_serve(settings, build))


async def _serve(settings: _Settings, build: Build[_Settings]) -> None:
    links = NetworkLinks(settings.addresses.by_service())
    transport = open_transport(settings.broker_url, sluice_topology())
    service = build(settings, links=links, transport=transport)
    server = HttpServer(service.app, host=settings.host, port=settings.port)
    async with running(links, transport, service, server):
        log.info("service.ready", service=service.name, host=settings.host, port=server.port)
        name = await until_signal()
        log.info("service.stopping", service=service.name, signal=name)
