"""Where requests come in from the network: from a credential to a principal."""

from contextlib import ExitStack
from typing import Protocol

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.problems import Unauthenticated
from sluice.contracts.renamed import old_names_written
from sluice.servicekit.access.behalf import address_of, asked_for, request_of
from sluice.servicekit.access.principal import (
    ANYBODY,
    Principal,
    principal_of,
    set_principal,
)
from sluice.servicekit.access.request_rate import RequestRate, RequestsAtOnce
from sluice.servicekit.access.sessions import Sessions
from sluice.servicekit.audit.request import answering, coming_from
from sluice.servicekit.http import ANSWERABLE, answer_to

_SCHEME = "bearer"


class Authenticator(Protocol):
    async def principal(self, token: str) -> Principal | None:
        """Whose token it is; None: nobody's. Raises ``Unauthenticated`` with the reason where there
        is more to say."""
        ...


class Authentication:
    """ASGI application around another. A request without a credential is nobody's, and one with a
    wrong token is refused; a browser whose session is over is nobody's, too."""

    def __init__(
        self,
        app: ASGIApp,
        authenticator: Authenticator | None,
        sessions: Sessions | None = None,
        *,
        without: Principal | None = None,
        most: int = 0,
    ) -> None:
        """``authenticator``: None: whoever reaches the server may do everything. ``sessions``: of
        people, where there are pages. ``without``: who asks where no credential is given, or none
        that anybody knows. ``most``: requests of a person in a minute; 0: any number."""
        self._rate = RequestRate(most)
        self._at_once = RequestsAtOnce()
        self._app = app
        self._without = without
        self._authenticator = authenticator
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with ExitStack() as counted:
            if scope["type"] == "http" and principal_of(scope) is None:
                try:
                    principal = asked_for(await self._find(scope), scope)
                    await self._rate.require(principal)
                    counted.enter_context(self._at_once.one_more(principal))
                except ANSWERABLE as error:
                    await answer_to(error)(scope, receive, send)
                    return
                if principal is not None:
                    set_principal(scope, principal)
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        with (
            coming_from(address_of(scope)),
            answering(request_of(principal_of(scope), scope)),
            old_names_written(_is_of_release_before(scope)),
        ):
            await self._app(scope, receive, send)

    async def _find(self, scope: Scope) -> Principal | None:
        """Raises ``Unauthenticated``; ``NotAvailable`` where nobody can say now who it is."""
        if self._authenticator is None:
            return ANYBODY
        headers = Headers(scope=scope)
        given = headers.get("authorization")
        if given is None:
            cookies = headers.get("cookie", "")
            person = None if self._sessions is None else await self._sessions.person(cookies)
            return person or self._without
        scheme, _, token = given.partition(" ")
        found = (
            await self._authenticator.principal(token.strip())
            if scheme.lower() == _SCHEME
            else None
        )
        if found is None and self._without is None:
            raise Unauthenticated(
                "the token of the request is none that this service knows: it was taken back, is of"
                " another system, or was not copied whole"
            )
        return found or self._without


def _is_of_release_before(scope: Scope) -> bool:
    """Return whether a client of release 0.1.0 may ask: it has no token, and says only that it is
    httpx."""
    agent = Headers(scope=scope).get("user-agent", "") if scope["type"] == "http" else ""
    return principal_of(scope) is ANYBODY and agent.startswith("python-httpx")
