"""Sign-in by name and password, by token, or by the address that `sluice up` prints; sign-out."""

from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.common.problems import ServiceError, Unauthenticated, Unprocessable
from sluice.servicekit.access.authentication import Authenticator
from sluice.servicekit.access.delegation import client_address
from sluice.servicekit.access.principal import Person
from sluice.servicekit.access.sessions import Sessions
from sluice.servicekit.audit.request import bind_client_address
from sluice.servicekit.web.http import ANSWERABLE, answer_to

#: The name of the token in the query of an address and in the form.
PARAMETER = "token"
SIGN_IN, SIGN_OUT = "/sign-in", "/sign-out"
#: Values of `signed-in` in the query of the page that follows a failed sign-in.
FAILED_SIGN_IN, TOO_MANY_SIGN_INS = "no", "later"
_READS = {"GET", "HEAD"}
_TOO_MANY_REQUESTS = 429
#: The maximum number of form fields. The real form has three or four.
_MAX_FIELDS = 20


class SignIn:
    """ASGI middleware that signs people in and out."""

    def __init__(
        self,
        app: ASGIApp,
        sessions: Sessions,
        *,
        tokens: Authenticator,
        by_address: Authenticator | None = None,
    ) -> None:
        """Set up the sign-in.

        Args:
            app: The ASGI application that handles all other requests.
            sessions: The browser sessions.
            tokens: Resolves the tokens that the form accepts.
            by_address: Resolves the tokens that an address may contain. None means that addresses
                contain no tokens.
        """
        self._app = app
        self._sessions = sessions
        self._tokens = tokens
        self._by_address = by_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer requests about sign-in and sign-out, and pass others on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = None
        with bind_client_address(client_address(scope)):
            try:
                answer = await self._answer(Request(scope, receive))
            except ANSWERABLE as error:
                answer = answer_to(error)
            await (answer or self._app)(scope, receive, send)

    async def _answer(self, request: Request) -> Response | None:
        """Return the response to a sign-in or sign-out request, or None for any other request.

        Raises:
            NotAvailable: The accounts cannot be asked now.
        """
        match request.method, request.url.path:
            case ("POST", path) if path == SIGN_IN:
                return await self._by_form(request)
            case ("POST", path) if path == SIGN_OUT:
                end = self._sessions.end(cookie_header(request), secure=is_secure(request.scope))
                return redirect_to("/", await end)
            case (method, _) if method in _READS and PARAMETER in request.query_params:
                return await self._from_address(request)
        return None

    async def _from_address(self, request: Request) -> Response | None:
        """Redirect to the same address without the token, or return None for an invalid token."""
        if self._by_address is None:
            return None
        parameters = [(k, v) for k, v in request.query_params.multi_items() if k != PARAMETER]
        target = request.url.path + (f"?{urlencode(parameters)}" if parameters else "")
        token = request.query_params[PARAMETER]
        try:
            person = await _holder(self._by_address, token)
        except Unauthenticated:
            return None
        return redirect_to(local(target), await self._begin_session(request, person, token))

    async def _by_form(self, request: Request) -> Response:
        try:
            body = (await request.body()).decode("utf-8", "replace")
            fields = parse_qs(body, max_num_fields=_MAX_FIELDS)
        except ValueError:
            raise Unprocessable("the form has more fields than it has here") from None
        name, password, token = (
            fields.get(field, [""])[0] for field in ("name", "password", PARAMETER)
        )
        target = local(fields.get("next", ["/"])[0])
        try:
            if name.strip():
                cookie = await self._sessions.begin_with_password(
                    name, password, cookie_header(request), secure=is_secure(request.scope)
                )
            else:
                person = await _holder(self._tokens, token.strip())
                cookie = await self._begin_session(request, person, token.strip())
        except Unauthenticated:
            return redirect_to(with_query(target, f"signed-in={FAILED_SIGN_IN}"))
        except ServiceError as error:
            if error.status != _TOO_MANY_REQUESTS:
                raise
            return redirect_to(with_query(target, f"signed-in={TOO_MANY_SIGN_INS}"))
        return redirect_to(target, cookie)

    async def _begin_session(self, request: Request, person: Person, token: str) -> str:
        """Begin a session and return its ``Set-Cookie`` header."""
        secure = is_secure(request.scope)
        return await self._sessions.begin(
            person, cookie_header(request), secure=secure, token=token
        )


async def _holder(tokens: Authenticator, token: str) -> Person:
    """Return the person that a token belongs to.

    Raises:
        Unauthenticated: The token belongs to no person.
    """
    principal = await tokens.principal(token)
    if not isinstance(principal, Person):
        raise Unauthenticated("the token is not valid")
    return principal


def cookie_header(request: Request) -> str:
    """Return the ``Cookie`` header of a request."""
    return request.headers.get("cookie", "")


def local(address: str) -> str:
    """Return the address if it leads to a page of this system, else the first page.

    This prevents redirects to other sites.
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return "/"
    is_own_page = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if is_own_page and not parts.scheme and not parts.netloc else "/"


def with_query(address: str, query: str) -> str:
    """Return the address with ``query`` appended."""
    return f"{address}{'&' if '?' in address else '?'}{query}"


def redirect_to(address: str, cookie: str | None = None) -> Response:
    """Return a redirect to ``address`` that is neither cached nor sent on as a referrer."""
    answer = RedirectResponse(address, status_code=303)
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["Referrer-Policy"] = "no-referrer"
    if cookie is not None:
        answer.headers.append("Set-Cookie", cookie)
    return answer


def is_secure(scope: Scope) -> bool:
    """Return whether the request came over TLS."""
    return bool(scope.get("scheme") == "https")
