"""Transport to an application in this process that streams responses.

httpx's own transport first collects the whole response. This is faster for small responses, but
takes as much memory as a large one has.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import structlog
from starlette.types import ASGIApp, Message, Scope

from sluice.text.os_errors import reason_of

log = structlog.get_logger(__name__)


class StreamingTransport(httpx.AsyncBaseTransport):
    """httpx transport that calls an ASGI application and streams its response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the head of the response. Its body is produced as it is read.

        The application waits for its reader. If it fails after the head, reading raises
        ``httpx.RemoteProtocolError``.
        """
        exchange = _Exchange(await request.aread())
        exchange.begin(self._app, _make_scope(request))
        try:
            status, headers = await exchange.head
        except BaseException:
            await exchange.aclose()
            raise
        return httpx.Response(status, headers=headers, stream=exchange)


class _Exchange(httpx.AsyncByteStream):
    """One request and its response, shared by the application's task and the reader."""

    def __init__(self, body: bytes) -> None:
        self.head: asyncio.Future[tuple[int, Any]] = asyncio.get_running_loop().create_future()
        self._body = body
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue(1)
        self._is_complete = False
        self._body_delivered = False
        self._task: asyncio.Task[None] | None = None

    def begin(self, app: ASGIApp, scope: Scope) -> None:
        """Start the application."""
        self._task = asyncio.create_task(self._run(app, scope))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (piece := await self._pieces.get()) is not None:
            yield piece
        if not self._is_complete:
            raise httpx.RemoteProtocolError("the answer broke off before its end")

    async def aclose(self) -> None:
        """Stop the application, as when a connection is closed by the client."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, app: ASGIApp, scope: Scope) -> None:
        try:
            await app(scope, self._receive, self._send)
        except Exception as error:
            # Process boundary: over a network this would be a broken connection.
            log.warning("http.broken_off", path=scope["path"], reason=reason_of(error))
        if not self.head.done():
            self.head.set_result((500, []))
        await self._pieces.put(None)

    async def _receive(self) -> Message:
        if self._body_delivered:
            await asyncio.Event().wait()  # a client that disconnects cancels the task
        self._body_delivered = True
        return {"type": "http.request", "body": self._body, "more_body": False}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.head.set_result((message["status"], message.get("headers", [])))
            return
        if piece := message.get("body", b""):
            await self._pieces.put(piece)
        self._is_complete = not message.get("more_body", False)


def _make_scope(request: httpx.Request) -> Scope:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": request.url.raw_path.split(b"?")[0],
        "query_string": request.url.query,
        "server": (request.url.host, request.url.port),
        "client": ("127.0.0.1", 123),
        "root_path": "",
    }
