"""An application of this process as an HTTP client sees it over a network: its answer is read while
it is made.

httpx's own transport for this gathers the whole answer first: quicker for small answers, and as
much memory as a large one has.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import structlog
from starlette.types import ASGIApp, Message, Scope

log = structlog.get_logger(__name__)


class StreamingTransport(httpx.AsyncBaseTransport):
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The answer's head; its body comes as it is read, and the application waits for its
        reader. An application that fails after that breaks the answer off
        (``httpx.RemoteProtocolError``)."""
        exchange = _Exchange(await request.aread())
        exchange.begin(self._app, _scope_of(request))
        try:
            status, headers = await exchange.head
        except BaseException:
            await exchange.aclose()
            raise
        return httpx.Response(status, headers=headers, stream=exchange)


class _Exchange(httpx.AsyncByteStream):
    """One request and its answer, between the task of the application and its reader."""

    def __init__(self, body: bytes) -> None:
        self.head: asyncio.Future[tuple[int, Any]] = asyncio.get_running_loop().create_future()
        self._body = body
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue(1)
        self._whole = False
        self._asked = False
        self._task: asyncio.Task[None] | None = None

    def begin(self, app: ASGIApp, scope: Scope) -> None:
        self._task = asyncio.create_task(self._run(app, scope))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (piece := await self._pieces.get()) is not None:
            yield piece
        if not self._whole:
            raise httpx.RemoteProtocolError("the answer broke off before its end")

    async def aclose(self) -> None:
        """Nobody reads on: the application is stopped, as when a connection is cut."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, app: ASGIApp, scope: Scope) -> None:
        try:
            await app(scope, self._receive, self._send)
        except (
            Exception
        ) as error:  # process boundary: what the network would have taken for a broken connection
            log.warning("http.broken_off", path=scope["path"], reason=str(error))
        if not self.head.done():
            self.head.set_result((500, []))
        await self._pieces.put(None)

    async def _receive(self) -> Message:
        if self._asked:
            await asyncio.Event().wait()  # who goes away cancels the task
        self._asked = True
        return {"type": "http.request", "body": self._body, "more_body": False}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.head.set_result((message["status"], message.get("headers", [])))
            return
        if piece := message.get("body", b""):
            await self._pieces.put(piece)
        self._whole = not message.get("more_body", False)


def _scope_of(request: httpx.Request) -> Scope:
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
