"""The responses of a service that is still starting."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.common.problems import NotAvailable
from sluice.servicekit.web.http import problem_response


class Gate:
    """ASGI application in front of a service that is starting.

    ``/healthz`` reports that the process lives, and ``/readyz`` what the service waits for.
    Everything else is answered 503. After ``open`` it passes every request on.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._app: ASGIApp | None = None
        self._what, self._reason = "start", "has just begun"

    def tell(self, what: str, reason: str) -> None:
        """Set what the service waits for."""
        self._what, self._reason = what, reason

    def open(self, app: ASGIApp) -> None:
        """Pass requests on to ``app`` from now on."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer that the service is starting."""
        if self._app is not None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(Request(scope))(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        if request.url.path == "/healthz":
            return JSONResponse({"status": "ok"})
        if request.url.path == "/readyz":
            return JSONResponse({self._what: self._reason}, status_code=503)
        waits = f"{self._name} is starting; it waits for: {self._what} ({self._reason})"
        return problem_response(NotAvailable(waits, service=self._name).problem())
