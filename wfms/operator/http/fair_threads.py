"""Fair distribution of the request threads among people."""

import asyncio
from contextlib import AsyncExitStack
from weakref import WeakValueDictionary

from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.access.access import Role
from sluice.servicekit.access.principal import Person, find_principal

#: Path segments of requests that may check a template or a tool, which takes long.
_CHECKED = frozenset({"templates", "run-templates", "tools"})
_READS = frozenset({"GET", "HEAD", "OPTIONS"})


class FairThreads:
    """ASGI application that limits how many threads of the wrapped application each person uses.

    A person has at most a quarter of the threads at a time. Further requests of this person wait
    here and take no thread. All people together leave a quarter of the threads to requests that do
    not wait: those of services, pilots and administrators, and sign-ins. A person has one request
    at a time that may check a template. All people together use half of the threads for such
    requests.
    """

    def __init__(self, app: ASGIApp, *, threads: int) -> None:
        self._app = app
        self._share = max(1, threads // 4)
        self._turns = WeakValueDictionary[str, asyncio.Semaphore]()
        self._all_turns = asyncio.Semaphore(max(1, threads - self._share))
        self._checks = asyncio.Semaphore(max(1, threads // 2))
        self._own_checks = WeakValueDictionary[str, asyncio.Lock]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request as soon as its person may use a thread."""
        person = find_principal(scope) if scope["type"] == "http" else None
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
