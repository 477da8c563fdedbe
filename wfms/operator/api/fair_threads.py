"""Shares the threads that answer requests among the people who ask."""

import asyncio
from weakref import WeakValueDictionary

from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.access import Role
from sluice.servicekit.access.principal import Person, principal_of


class FairThreads:
    """ASGI application around one that answers each request from one of a few threads.

    A person has at most half of the threads at a time: further requests of the same person wait
    here, where they take no thread from others. Services and administrators do not wait.
    """

    def __init__(self, app: ASGIApp, *, threads: int) -> None:
        self._app = app
        self._most = max(1, threads // 2)
        self._turns = WeakValueDictionary[str, asyncio.Semaphore]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request when its person has a thread to spare."""
        person = principal_of(scope) if scope["type"] == "http" else None
        if not isinstance(person, Person) or person.role is Role.ADMIN:
            await self._app(scope, receive, send)
            return
        async with self._turns.setdefault(person.name, asyncio.Semaphore(self._most)):
            await self._app(scope, receive, send)
