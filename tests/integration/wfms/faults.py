"""Injected faults: a process that dies between any two lines, and services that do not answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from sluice.servicekit.database import Connection, Database, Transaction


class Crash(BaseException):
    """The process is gone: like SIGKILL, nothing catches this exception."""


class Fuse:
    """Count the places that the code passes, and crash for good at place ``at``; None means never.

    With ``stops`` the work is canceled at that place, as if the service were stopped: cleanup still
    runs.
    """

    def __init__(self, at: int | None = None) -> None:
        self.at = at
        self.passed = 0
        self.stops = False

    @property
    def blown(self) -> bool:
        return self.at is not None and self.passed >= self.at

    def place(self) -> None:
        self.passed += 1
        if self.stops and self.passed == self.at:
            raise asyncio.CancelledError
        if self.blown and not self.stops:
            raise Crash


class FragileDatabase(Database):
    """A database that may crash before each transaction, before its commit and after it."""

    fuse = Fuse()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        self.fuse.place()
        async with super().connection() as connection:
            yield connection
        self.fuse.place()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        async with super().transaction() as transaction:
            yield transaction
            self.fuse.place()


class FragileHttp(httpx.AsyncBaseTransport):
    """A transport that may crash before a request and after its answer, or refuses while ``down``.

    ``requests`` has the method and path of each request.
    """

    def __init__(self, app: Any, fuse: Fuse) -> None:
        self._inner = httpx.ASGITransport(app)
        self.fuse = fuse
        self.down = False
        self.requests: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.fuse.place()
        self.requests.append(f"{request.method} {request.url.path}")
        if self.down:
            raise httpx.ConnectError("the test lets the service be down")
        response = await self._inner.handle_async_request(request)
        self.fuse.place()
        return response
