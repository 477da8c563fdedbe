"""Authentication of network requests: from a credential to a principal."""

from contextlib import ExitStack
from typing import Protocol

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.common.problems import Unauthenticated
from sluice.servicekit.access.delegation import apply_delegation, client_address, person_request
from sluice.servicekit.access.principal import (
    ANYBODY,
    Principal,
    find_principal,
    set_principal,
)
from sluice.servicekit.access.request_rate import RequestRate, RequestsAtOnce
from sluice.servicekit.access.sessions import Sessions
from sluice.servicekit.audit.request import bind_client_address, bind_request
from sluice.servicekit.web.http import ANSWERABLE, answer_to

_SCHEME = "bearer"


class Authenticator(Protocol):
    """A resolver of credentials to principals."""

    async def principal(self, token: str) -> Principal | None:
        """Return the principal that the token belongs to, or None for an unknown token.

        Raises:
            Unauthenticated: The token is refused for a reason that the caller should know.
        """
        ...


class Authentication:
    """ASGI middleware that authenticates requests.

    A request without a credential has no principal. A request with a wrong token is refused. A
    browser whose session has ended counts as a request without a credential.
    """

    def __init__(
        self,
        app: ASGIApp,
        authenticator: Authenticator | None,
        sessions: Sessions | None = None,
        *,
        without: Principal | None = None,
        limit: int = 0,
    ) -> None:
        """Set up the authentication of an application.

        Args:
            app: The ASGI application that is protected.
            authenticator: Resolves bearer tokens. None means that everybody who reaches the server
                may do everything.
            sessions: The browser sessions, where the service has pages for people.
            without: The principal of requests without a credential or with an unknown one.
            limit: Requests that one person may send in a minute. 0: no limit.
        """
        self._rate = RequestRate(limit)
        self._at_once = RequestsAtOnce()
        self._app = app
        self._without = without
        self._authenticator = authenticator
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Authenticate a request and pass it on, or refuse it."""
        with ExitStack() as stack:
            if scope["type"] == "http" and find_principal(scope) is None:
                try:
                    principal = apply_delegation(await self._find(scope), scope)
                    await self._rate.require(principal)
                    stack.enter_context(self._at_once.one_more(principal))
                except ANSWERABLE as error:
                    await answer_to(error)(scope, receive, send)
                    return
                if principal is not None:
                    set_principal(scope, principal)
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        with (
            bind_client_address(client_address(scope)),
            bind_request(person_request(find_principal(scope), scope)),
        ):
            await self._app(scope, receive, send)

    async def _find(self, scope: Scope) -> Principal | None:
        """Return the principal of a request.

        Raises:
            Unauthenticated: The request has an unknown or invalid token.
            NotAvailable: The service that knows the tokens cannot be asked now.
        """
        if self._authenticator is None:
            return ANYBODY
        headers = Headers(scope=scope)
        credential = headers.get("authorization")
        if credential is None:
            cookies = headers.get("cookie", "")
            person = None if self._sessions is None else await self._sessions.person(cookies)
            return person or self._without
        scheme, _, token = credential.partition(" ")
        principal = (
            await self._authenticator.principal(token.strip())
            if scheme.lower() == _SCHEME
            else None
        )
        if principal is None and self._without is None:
            raise Unauthenticated(
                "this service does not know the token of the request: it was revoked, belongs to"
                " another system, or was not copied completely"
            )
        return principal or self._without
