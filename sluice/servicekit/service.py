"""A service, wired: its application and its background components; and how to run one as a process."""

import asyncio
import contextlib
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog
import uvicorn
from starlette.types import ASGIApp

from sluice.servicekit.lifecycle import Component, start_all, stop_all

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


async def serve(service: Service, *, host: str, port: int) -> None:
    """Runs a service as a process until SIGTERM or SIGINT; what is in hand is finished or handed back."""
    server = HttpServer(service.app, host=host, port=port)
    await start_all([service, server])
    log.info("service.ready", service=service.name, host=host, port=server.port)
    try:
        name = await until_signal()
        log.info("service.stopping", service=service.name, signal=name)
    finally:
        await stop_all([service, server])
