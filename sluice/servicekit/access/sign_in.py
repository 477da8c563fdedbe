"""Signing in with a token, by the address that `sluice up` prints or by a form, and out again."""

from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.problems import Unauthenticated
from sluice.servicekit.access.authentication import Authenticator
from sluice.servicekit.access.principal import Person
from sluice.servicekit.access.sessions import Sessions

#: Of the query of an address, and of the form.
PARAMETER = "token"
SIGN_IN, SIGN_OUT = "/sign-in", "/sign-out"
_READS = {"GET", "HEAD"}


class SignIn:
    """ASGI application around another, which stands in front of its pages."""

    def __init__(self, app: ASGIApp, authenticator: Authenticator, sessions: Sessions) -> None:
        self._app = app
        self._authenticator = authenticator
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = None
        if scope["type"] == "http":
            request = Request(scope, receive)
            match request.method, request.url.path:
                case ("POST", path) if path == SIGN_IN:
                    answer = await self._by_form(request)
                case ("POST", path) if path == SIGN_OUT:
                    answer = _elsewhere("/", self._sessions.end(secure=_is_secure(scope)))
                case (method, _) if method in _READS and PARAMETER in request.query_params:
                    answer = await self._by_address(request)
        await (answer or self._app)(scope, receive, send)

    async def _by_address(self, request: Request) -> Response | None:
        """On to the same address without the token. None: it opens nothing, and is ignored."""
        left = [(k, v) for k, v in request.query_params.multi_items() if k != PARAMETER]
        here = request.url.path + (f"?{urlencode(left)}" if left else "")
        return await self._begin(request, request.query_params[PARAMETER], _local(here))

    async def _by_form(self, request: Request) -> Response:
        fields = parse_qs((await request.body()).decode("utf-8", "replace"))
        there = _local(fields.get("next", ["/"])[0])
        token = fields.get(PARAMETER, [""])[0].strip()
        begun = await self._begin(request, token, there)
        return begun or _elsewhere(_with_query(there, "signed-in=no"))

    async def _begin(self, request: Request, token: str, there: str) -> Response | None:
        try:
            person = await self._authenticator.principal(token)
        except Unauthenticated:
            return None
        if not isinstance(person, Person):
            return None
        cookie = self._sessions.begin(person, secure=_is_secure(request.scope))
        return _elsewhere(there, cookie)


def _local(address: str) -> str:
    """The address where it leads to a page of ours, else the first page."""
    parts = urlsplit(address)
    ours = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if ours and not parts.scheme and not parts.netloc else "/"


def _with_query(address: str, query: str) -> str:
    return f"{address}{'&' if '?' in address else '?'}{query}"


def _elsewhere(address: str, cookie: str | None = None) -> Response:
    answer = RedirectResponse(address, status_code=303)
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["Referrer-Policy"] = "no-referrer"
    if cookie is not None:
        answer.headers.append("Set-Cookie", cookie)
    return answer


def _is_secure(scope: Scope) -> bool:
    return bool(scope.get("scheme") == "https")
