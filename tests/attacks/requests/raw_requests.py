"""Send bytes to a server with small limits."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.web.request_limits import Limits
from sluice.servicekit.web.server import HttpServer

MAX_BODY = 64 * 1024

#: Seconds. Data that should be too slow is never sent.
TIMEOUT = 0.2

LIMITS = Limits(frozenset({"dms"}), body=MAX_BODY, body_seconds=TIMEOUT, settings="SLUICE_DMS_")


async def answer_body_size(scope: Scope, receive: Receive, send: Send) -> None:
    request = Request(scope, receive)
    await JSONResponse({"size": len(await request.body())})(scope, receive, send)


@asynccontextmanager
async def serve_with_limits(
    limits: Limits = LIMITS, *, app: Any = answer_body_size, connections: int = 100
) -> AsyncIterator[int]:
    server = HttpServer(app, host="127.0.0.1", port=0, limits=limits, connections=connections)
    async with running(server):
        yield server.port


async def send_bytes(port: int, data: bytes) -> tuple[int, dict[str, Any]]:
    """Send the bytes, keep the connection open, and return the status and the body of the
    answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    async with asyncio.timeout(30):
        answer = await reader.read()
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def format_head(method: str = "GET", **headers: str) -> bytes:
    lines = [
        f"{name.replace('_', '-')}: {value}"
        for name, value in {"host": "127.0.0.1", **headers}.items()
    ]
    return "\r\n".join([f"{method} / HTTP/1.1", *lines, "", ""]).encode()
