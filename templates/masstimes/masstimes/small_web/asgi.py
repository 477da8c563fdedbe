"""A minimal layer over ASGI for requests and answers."""

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import parse_qs

Header = tuple[str, str]
#: The start of the monotonic clock in seconds since 1970.
_CLOCK_START = time.time() - time.monotonic()


def now() -> float:
    """Return the seconds since 1970, by a clock that is never set."""
    return _CLOCK_START + time.monotonic()


@dataclass
class Exchange:
    """One request and its answer.

    ``answer_time`` is when the answer began, and ``end_time`` is just before its last byte, in
    seconds since 1970. Both are 0 before that.
    """

    host: str
    path: str
    query: str
    headers: dict[str, str]
    receive: Callable[[], Awaitable[dict[str, Any]]] = field(repr=False)
    send: Callable[[dict[str, Any]], Awaitable[None]] = field(repr=False)
    method: str = "GET"
    status: int = 0
    answer_time: float = 0.0
    end_time: float = 0.0
    sent_bytes: int = 0

    @property
    def target(self) -> str:
        """Return the path with the query."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def parameter(self, name: str) -> str:
        """Return a parameter of the query, empty if it is missing."""
        return parse_qs(self.query).get(name, [""])[0]

    async def start(self, status: int, headers: Sequence[Header] = ()) -> None:
        """Send the status and headers."""
        self.status, self.answer_time = status, now()
        encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        await self.send({"type": "http.response.start", "status": status, "headers": encoded})

    async def part(self, body: bytes, *, more: bool = True) -> None:
        """Send a part of the body."""
        self.sent_bytes += len(body)
        if not more:
            self.end_time = now()
        await self.send({"type": "http.response.body", "body": body, "more_body": more})

    async def answer(self, status: int, body: bytes = b"", headers: Sequence[Header] = ()) -> None:
        """Send a whole answer."""
        await self.start(status, [*headers, ("content-length", str(len(body)))])
        await self.part(body, more=False)
        if not body:  # the client waited only for the headers
            self.end_time = self.answer_time

    async def page(self, html: str, headers: Sequence[Header] = ()) -> None:
        """Send an HTML page."""
        await self.answer(200, html.encode(), [("content-type", "text/html"), *headers])

    async def json(self, value: object) -> None:
        """Send a value as JSON."""
        await self.answer(
            200,
            json.dumps(value, ensure_ascii=False).encode(),
            [("content-type", "application/json")],
        )

    async def wait_for_disconnect(self) -> None:
        """Wait until the client disconnects."""
        while (await self.receive())["type"] != "http.disconnect":
            pass


def make_exchange(scope: dict[str, Any], receive: object, send: object) -> Exchange:
    """Return the exchange for an ASGI request."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    return Exchange(
        host=headers.get("host", "").rpartition(":")[0] or headers.get("host", ""),
        path=scope["path"],
        query=scope["query_string"].decode("latin-1"),
        headers=headers,
        receive=cast(Callable[[], Awaitable[dict[str, Any]]], receive),
        send=cast(Callable[[dict[str, Any]], Awaitable[None]], send),
        method=scope["method"],
    )
