"""The HTTP server of a process as a component."""

import asyncio
import contextlib
import socket
from functools import partial

import uvicorn
from starlette.types import ASGIApp

from sluice.servicekit.web.connections import IDLE_SECONDS, PatientProtocol
from sluice.servicekit.web.refused_requests import Refusals
from sluice.servicekit.web.request_guard import Guard
from sluice.servicekit.web.request_limits import Limits
from sluice.text.os_errors import reason_of

#: The maximum number of connections that wait to be accepted.
BACKLOG = 2048
#: The maximum number of connections. Each takes a file descriptor, and the usual limit of a process
#: is 1024.
CONNECTIONS = 900
#: Seconds that open requests may take when the server stops.
ANSWER_LIMIT = 5


class HttpServer:
    """uvicorn as a component. ``start`` returns when it accepts connections."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        host: str,
        port: int,
        limits: Limits | None = None,
        connections: int = CONNECTIONS,
    ) -> None:
        """Set up the server.

        Args:
            app: The application.
            host: The address to listen on.
            port: The port to listen on. 0: any free one.
            limits: The limits on requests.
            connections: The maximum number of connections.
        """
        #: Counts requests that are refused before the application sees them.
        self.refusals = Refusals()
        # Without ``proxy_headers``, because a client on this machine could claim another address.
        config = uvicorn.Config(
            Guard(app, limits or Limits(), addresses={host.lower()}, refusals=self.refusals),
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=ANSWER_LIMIT,
            timeout_keep_alive=IDLE_SECONDS,
            http=partial(PatientProtocol, limit=connections, refusals=self.refusals),  # type: ignore[arg-type] # it is called, no more
            ws="none",
            proxy_headers=False,
        )
        self._host, self._port = host, port
        self._server = uvicorn.Server(config)
        self._server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment] # signals are the process's own
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the server.

        Raises:
            OSError: The port is in use.
        """
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
        """Return the port that the server listens on. The system chooses it if 0 was given."""
        return self._port

    async def stop(self) -> None:
        """Stop the server."""
        task, self._task = self._task, None
        if task is not None:
            self._server.should_exit = True
            await asyncio.gather(task, return_exceptions=True)

    def _listen(self) -> socket.socket:
        """Open the socket. uvicorn itself would end the process on an error.

        Raises:
            OSError: The address cannot be used.
        """
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
                error.errno, f"cannot listen on {self._host}:{self._port}: {reason_of(error)}"
            ) from error
