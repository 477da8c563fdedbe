"""The HTTP server of a process, as a component."""

import asyncio
import contextlib
import socket
from functools import partial

import uvicorn
from starlette.types import ASGIApp

from sluice.servicekit.connections import IDLE_SECONDS, PatientProtocol
from sluice.servicekit.refused_requests import Refusals
from sluice.servicekit.request_guard import Guard
from sluice.servicekit.request_limits import Limits

#: Connections that wait to be accepted.
BACKLOG = 2048
#: Connections at the same time; each takes a descriptor, of which a process has 1024 where nobody
#: gave it more.
CONNECTIONS = 900
#: Seconds that requests under way get to be answered at a stop.
ANSWER_LIMIT = 5


class HttpServer:
    """uvicorn as a component; ``start`` returns when it accepts connections."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        host: str,
        port: int,
        limits: Limits | None = None,
        connections: int = CONNECTIONS,
    ) -> None:
        """``limits``: what requests must be. ``connections``: at the same time."""
        #: What is refused before the application sees it.
        self.refusals = Refusals()
        config = uvicorn.Config(
            Guard(app, limits or Limits(), bound={host.lower()}, refusals=self.refusals),
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=ANSWER_LIMIT,
            timeout_keep_alive=IDLE_SECONDS,
            http=partial(PatientProtocol, most=connections, refusals=self.refusals),  # type: ignore[arg-type] # it is called, no more
            ws="none",
            # Whoever is on this machine could say that he asks from elsewhere.
            proxy_headers=False,
        )
        self._host, self._port = host, port
        self._server = uvicorn.Server(config)
        self._server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment] # signals are the process's own
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Raises ``OSError`` when the port is taken."""
        listener = self._listen()
        self._port = int(listener.getsockname()[1])
        self._task = asyncio.create_task(self._server.serve([listener]), name="http server")
        while not self._server.started:
            if self._task.done():
                raise OSError(
                    f"cannot listen on {self._host}:{self._port}"
                ) from self._task.exception()
            await asyncio.sleep(0.005)

    @property
    def port(self) -> int:
        """The port it listens on (chosen by the system when 0 was asked for)."""
        return self._port

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            self._server.should_exit = True
            await asyncio.gather(task, return_exceptions=True)

    def _listen(self) -> socket.socket:
        """Uvicorn ends the process where it cannot; this raises."""
        try:
            if ":" in self._host:
                both = socket.has_dualstack_ipv6()
                return socket.create_server(
                    (self._host, self._port),
                    family=socket.AF_INET6,
                    dualstack_ipv6=both,
                    backlog=BACKLOG,
                )
            return socket.create_server((self._host, self._port), backlog=BACKLOG)
        except OSError as error:
            raise OSError(
                error.errno, f"cannot listen on {self._host}:{self._port}: {error.strerror}"
            ) from error
