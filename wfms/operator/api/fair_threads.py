"""Shares the threads that answer requests among the people who ask."""

import asyncio
from contextlib import AsyncExitStack
from weakref import WeakValueDictionary

from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.access import Role
from sluice.servicekit.access.principal import Person, principal_of

#: Parts of addresses at which a request may have a template or a tool checked, which takes long.
_CHECKED = frozenset({"templates", "run-templates", "tools"})
_READS = frozenset({"GET", "HEAD", "OPTIONS"})


class FairThreads:
    """ASGI application around one that answers each request from one of a few threads.

    A person has at most a quarter of the threads at a time: further requests of the same person
    wait here, where they take no thread from others. All people together leave a quarter of the
    threads to requests that do not wait: those of services, pilots and administrators, and of
    people who sign in. Of requests that may check a template a person has one at a time, and all
    people together have half of the threads.
    """

    def __init__(self, app: ASGIApp, *, threads: int) -> None:
        self._app = app
        self._share = max(1, threads // 4)
        self._turns = WeakValueDictionary[str, asyncio.Semaphore]()
        self._all_turns = asyncio.Semaphore(max(1, threads - self._share))
        self._checks = asyncio.Semaphore(max(1, threads // 2))
        self._own_checks = WeakValueDictionary[str, asyncio.Lock]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request when its person has a thread to spare."""
        person = principal_of(scope) if scope["type"] == "http" else None
        if not isinstance(person, Person) or person.role is Role.ADMIN:
            await self._app(scope, receive, send)
            return
        async with AsyncExitStack() as turns:
            checks = scope["method"] not in _READS and not _CHECKED.isdisjoint(
                scope["path"].split("/")
            )
            if checks:
                await turns.enter_async_context(
                    self._own_checks.setdefault(person.name, asyncio.Lock())
                )
            await turns.enter_async_context(
                self._turns.setdefault(person.name, asyncio.Semaphore(self._share))
            )
            if checks:
                await turns.enter_async_context(self._checks)
            await turns.enter_async_context(self._all_turns)
            await self._app(scope, receive, send)
