"""Requests and answers, as small as the small web needs them."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import parse_qs

Header = tuple[str, str]
#: Of the clock that nobody sets, so that pauses are as long as they are.
_BEGAN = time.time() - time.monotonic()


def now() -> float:
    """Seconds since 1970."""
    return _BEGAN + time.monotonic()


@dataclass
class Exchange:
    """One request, and what was answered. Seconds since 1970, and 0 as long as they have not come:
    ``answered``, when the answer began; ``ended``, before its last byte went out.
    """

    host: str
    path: str
    query: str
    headers: dict[str, str]
    receive: Callable[[], Awaitable[dict[str, Any]]] = field(repr=False)
    send: Callable[[dict[str, Any]], Awaitable[None]] = field(repr=False)
    method: str = "GET"
    status: int = 0
    answered: float = 0.0
    ended: float = 0.0
    sent: int = 0

    @property
    def target(self) -> str:
        return f"{self.path}?{self.query}" if self.query else self.path

    def parameter(self, name: str) -> str:
        return parse_qs(self.query).get(name, [""])[0]

    async def start(self, status: int, headers: Sequence[Header] = ()) -> None:
        self.status, self.answered = status, now()
        encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        await self.send({"type": "http.response.start", "status": status, "headers": encoded})

    async def part(self, body: bytes, *, more: bool = True) -> None:
        self.sent += len(body)
        if not more:
            self.ended = now()
        await self.send({"type": "http.response.body", "body": body, "more_body": more})

    async def answer(self, status: int, body: bytes = b"", headers: Sequence[Header] = ()) -> None:
        await self.start(status, [*headers, ("content-length", str(len(body)))])
        await self.part(body, more=False)
        if not body:  # its head was the last that the client waited for
            self.ended = self.answered

    async def page(self, html: str, headers: Sequence[Header] = ()) -> None:
        await self.answer(200, html.encode(), [("content-type", "text/html"), *headers])

    async def json(self, value: object) -> None:
        await self.answer(
            200,
            json.dumps(value, ensure_ascii=False).encode(),
            [("content-type", "application/json")],
        )

    async def until_left(self) -> None:
        """Until the client gives up."""
        while (await self.receive())["type"] != "http.disconnect":
            pass


def exchange(scope: dict[str, Any], receive: object, send: object) -> Exchange:
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
