"""Signing in by somebody else who knows people: there, and back again."""

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Protocol

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.problems import Unauthenticated
from sluice.servicekit.access.behalf import address_of
from sluice.servicekit.access.principal import Person
from sluice.servicekit.access.sessions import Sessions
from sluice.servicekit.access.sign_in import elsewhere, is_secure, local, with_query
from sluice.servicekit.audit.request import coming_from
from sluice.servicekit.http import ANSWERABLE, answer_to

#: Where a browser is sent on to the provider, and where it comes back.
THERE, BACK = "/sign-in/provider", "/sign-in/provider/back"
#: Value of `signed-in` in the query of the page that somebody gets who was not let in.
REFUSED = "refused"
#: Seconds that somebody may take at the provider.
_LIFE = 600
_COOKIE = "sluice_provider"


@dataclass(frozen=True, slots=True)
class Begun:
    """What a browser that is at the provider is known by when it comes back. ``next``: where it
    wanted to go."""

    state: str
    nonce: str
    verifier: str
    redirect: str
    next: str


class Provider(Protocol):
    async def begin(self, redirect: str, *, state: str, nonce: str, verifier: str) -> str:
        """Where the browser is sent to. Raises ``NotAvailable``."""
        ...

    async def person(self, begun: Begun, answer: Mapping[str, str]) -> Person:
        """Who came back. Raises ``Unauthenticated``, ``NotAvailable``."""
        ...


class ProviderSignIn:
    """ASGI application around another."""

    def __init__(
        self, app: ASGIApp, provider: Provider, sessions: Sessions, *, key: str, public_url: str
    ) -> None:
        """``key``: signs what the browser keeps meanwhile. ``public_url``: under which browsers
        know this system; empty: as they ask for it."""
        self._app = app
        self._provider = provider
        self._sessions = sessions
        self._signer = URLSafeTimedSerializer(key, salt="sluice.provider")
        self._public_url = public_url.rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = None
        if scope["type"] == "http" and scope["method"] == "GET":
            request = Request(scope, receive)
            try:
                with coming_from(address_of(scope)):
                    answer = await self._answer(request)
            except ANSWERABLE as error:
                answer = answer_to(error)
        await (answer or self._app)(scope, receive, send)

    async def _answer(self, request: Request) -> Response | None:
        """None: it is not about signing in there."""
        match request.url.path:
            case path if path == THERE:
                return await self._there(request)
            case path if path == BACK:
                return await self._back(request)
        return None

    async def _there(self, request: Request) -> Response:
        ours = self._public_url or str(request.base_url).rstrip("/")
        begun = Begun(
            state=secrets.token_urlsafe(32),
            nonce=secrets.token_urlsafe(32),
            verifier=secrets.token_urlsafe(48),
            redirect=f"{ours}{BACK}",
            next=local(request.query_params.get("next", "/")),
        )
        address = await self._provider.begin(
            begun.redirect, state=begun.state, nonce=begun.nonce, verifier=begun.verifier
        )
        kept = str(self._signer.dumps(asdict(begun)))
        answer = RedirectResponse(address, status_code=303)
        answer.headers["Cache-Control"] = "no-store"
        answer.headers.append("Set-Cookie", self._cookie(kept, _LIFE, request))
        return answer

    async def _back(self, request: Request) -> Response:
        """A code that comes without the cookie was asked for by somebody else, or too long ago."""
        begun = self._begun(request)
        if begun is None or not secrets.compare_digest(
            request.query_params.get("state", "").encode(), begun.state.encode()
        ):
            return elsewhere(with_query("/", f"signed-in={REFUSED}"))
        try:
            person = await self._provider.person(begun, dict(request.query_params))
        except Unauthenticated:
            answer = elsewhere(with_query(begun.next, f"signed-in={REFUSED}"))
        else:
            cookies = request.headers.get("cookie", "")
            secure = is_secure(request.scope)
            answer = elsewhere(
                begun.next, await self._sessions.begin(person, cookies, secure=secure)
            )
        answer.headers.append("Set-Cookie", self._cookie("", 0, request))
        return answer

    def _begun(self, request: Request) -> Begun | None:
        try:
            kept = SimpleCookie(request.headers.get("cookie", ""))[_COOKIE].value
            return Begun(**self._signer.loads(kept, max_age=_LIFE))
        except (CookieError, KeyError, BadData, TypeError):
            return None

    def _cookie(self, value: str, life: int, request: Request) -> str:
        cookie = SimpleCookie({_COOKIE: value})
        attributes = cookie[_COOKIE]
        attributes["path"], attributes["samesite"], attributes["httponly"] = THERE, "Lax", True
        attributes["max-age"] = life
        if is_secure(request.scope) or self._public_url.startswith("https:"):
            attributes["secure"] = True
        return cookie[_COOKIE].OutputString()
