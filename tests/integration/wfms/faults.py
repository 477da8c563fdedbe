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

    With ``is_canceling`` the work is canceled at that place, as if the service were stopped.
    Cleanup still runs.
    """

    def __init__(self, at: int | None = None) -> None:
        self.at = at
        self.passed_places = 0
        self.is_canceling = False

    @property
    def has_crashed(self) -> bool:
        return self.at is not None and self.passed_places >= self.at

    def pass_place(self) -> None:
        self.passed_places += 1
        if self.is_canceling and self.passed_places == self.at:
            raise asyncio.CancelledError
        if self.has_crashed and not self.is_canceling:
            raise Crash


class FragileDatabase(Database):
    """A database that may crash before each transaction, before its commit and after it."""

    fuse = Fuse()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        self.fuse.pass_place()
        async with super().connection() as connection:
            yield connection
        self.fuse.pass_place()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        async with super().transaction() as transaction:
            yield transaction
            self.fuse.pass_place()


class FragileHttp(httpx.AsyncBaseTransport):
    """A transport that may crash before a request or after its answer, and refuses if ``is_down``.

    ``requests`` has the method and path of each request.
    """

    def __init__(self, app: Any, fuse: Fuse) -> None:
        self._inner = httpx.ASGITransport(app)
        self.fuse = fuse
        self.is_down = False
        self.requests: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.fuse.pass_place()
        self.requests.append(f"{request.method} {request.url.path}")
        if self.is_down:
            raise httpx.ConnectError("the test lets the service be down")
        response = await self._inner.handle_async_request(request)
        self.fuse.pass_place()
        return response
