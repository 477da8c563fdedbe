"""Sign-in through an external identity provider."""

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Protocol

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.common.problems import Unauthenticated
from sluice.servicekit.access.delegation import client_address
from sluice.servicekit.access.principal import Person
from sluice.servicekit.access.sessions import Sessions
from sluice.servicekit.access.sign_in import is_secure, local, redirect_to, with_query
from sluice.servicekit.audit.request import bind_client_address
from sluice.servicekit.web.http import ANSWERABLE, answer_to

#: The path that redirects to the provider, and the path to which the provider redirects back.
PROVIDER_PATH, RETURN_PATH = "/sign-in/provider", "/sign-in/provider/back"
#: Value of `signed-in` in the query of the page that a refused person gets.
REFUSED_SIGN_IN = "refused"
#: Seconds for which the provider's answer is accepted.
_LIFE = 600
_COOKIE = "sluice_provider"


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """A sign-in that waits for the provider's answer. ``next`` is the page to return to."""

    state: str
    nonce: str
    verifier: str
    redirect: str
    next: str


class Provider(Protocol):
    """An external identity provider."""

    async def begin(self, redirect: str, *, state: str, nonce: str, verifier: str) -> str:
        """Return the provider's address to which the browser is redirected.

        Raises:
            NotAvailable: The provider does not answer.
        """
        ...

    async def person(self, pending_sign_in: PendingSignIn, answer: Mapping[str, str]) -> Person:
        """Return the person that the provider's answer names.

        Raises:
            Unauthenticated: The answer is wrong, or the person is not admitted.
            NotAvailable: The provider does not answer.
        """
        ...


class ProviderSignIn:
    """ASGI middleware that signs people in through an identity provider."""

    def __init__(
        self, app: ASGIApp, provider: Provider, sessions: Sessions, *, key: str, public_url: str
    ) -> None:
        """Set up the sign-in.

        Args:
            app: The ASGI application that handles all other requests.
            provider: The identity provider.
            sessions: The browser sessions.
            key: Signs the cookie that the browser keeps during the sign-in.
            public_url: The address by which browsers know this system. Empty: the address of the
                request.
        """
        self._app = app
        self._provider = provider
        self._sessions = sessions
        self._signer = URLSafeTimedSerializer(key, salt="sluice.provider")
        self._public_url = public_url.rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer requests about the sign-in, and pass others on."""
        answer = None
        if scope["type"] == "http" and scope["method"] == "GET":
            request = Request(scope, receive)
            try:
                with bind_client_address(client_address(scope)):
                    answer = await self._answer(request)
            except ANSWERABLE as error:
                answer = answer_to(error)
        await (answer or self._app)(scope, receive, send)

    async def _answer(self, request: Request) -> Response | None:
        """Return the response to a sign-in request, or None for any other request."""
        match request.url.path:
            case path if path == PROVIDER_PATH:
                return await self._redirect_to_provider(request)
            case path if path == RETURN_PATH:
                return await self._complete(request)
        return None

    async def _redirect_to_provider(self, request: Request) -> Response:
        own_address = self._public_url or str(request.base_url).rstrip("/")
        pending = PendingSignIn(
            state=secrets.token_urlsafe(32),
            nonce=secrets.token_urlsafe(32),
            verifier=secrets.token_urlsafe(48),
            redirect=f"{own_address}{RETURN_PATH}",
            next=local(request.query_params.get("next", "/")),
        )
        address = await self._provider.begin(
            pending.redirect, state=pending.state, nonce=pending.nonce, verifier=pending.verifier
        )
        cookie = str(self._signer.dumps(asdict(pending)))
        answer = RedirectResponse(address, status_code=303)
        answer.headers["Cache-Control"] = "no-store"
        answer.headers.append("Set-Cookie", self._cookie(cookie, _LIFE, request))
        return answer

    async def _complete(self, request: Request) -> Response:
        """Complete the sign-in.

        A request without the matching cookie is refused: another browser began the sign-in, or too
        much time has passed.
        """
        pending = self._read_pending(request)
        if pending is None or not secrets.compare_digest(
            request.query_params.get("state", "").encode(), pending.state.encode()
        ):
            return redirect_to(with_query("/", f"signed-in={REFUSED_SIGN_IN}"))
        try:
            person = await self._provider.person(pending, dict(request.query_params))
        except Unauthenticated:
            answer = redirect_to(with_query(pending.next, f"signed-in={REFUSED_SIGN_IN}"))
        else:
            cookies = request.headers.get("cookie", "")
            secure = is_secure(request.scope)
            answer = redirect_to(
                pending.next, await self._sessions.begin(person, cookies, secure=secure)
            )
        answer.headers.append("Set-Cookie", self._cookie("", 0, request))
        return answer

    def _read_pending(self, request: Request) -> PendingSignIn | None:
        try:
            cookie = SimpleCookie(request.headers.get("cookie", ""))[_COOKIE].value
            return PendingSignIn(**self._signer.loads(cookie, max_age=_LIFE))
        except (CookieError, KeyError, BadData, TypeError):
            return None

    def _cookie(self, value: str, life: int, request: Request) -> str:
        cookie = SimpleCookie({_COOKIE: value})
        attributes = cookie[_COOKIE]
        attributes["path"], attributes["samesite"], attributes["httponly"] = (
            PROVIDER_PATH,
            "Lax",
            True,
        )
        attributes["max-age"] = life
        if is_secure(request.scope) or self._public_url.startswith("https:"):
            attributes["secure"] = True
        return cookie[_COOKIE].OutputString()
