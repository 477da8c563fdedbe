"""The application of an embedded system: all services behind one port."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.access.services import short_name
from sluice.embedded.access import Access
from sluice.embedded.readiness import OK, PILOTS, READY_PATH, STARTING
from sluice.servicekit.access.authentication_setup import open_to_anybody
from sluice.servicekit.running.service import Service
from sluice.servicekit.running.service_clients import ProcessLinks


def combine_services(
    services: dict[str, Service],
    links: ProcessLinks,
    pilot_states: Callable[[], Awaitable[dict[str, dict[str, str]]]],
) -> Starlette:
    """Return the application with the operator's pages at the root.

    Every other service is below ``/services/<its name>``.
    """
    clients = {name: links.http(name) for name in services}

    async def readyz(request: Request) -> JSONResponse:
        answers = await asyncio.gather(*(client.get("/readyz") for client in clients.values()))
        report = {name: answer.json() for name, answer in zip(clients, answers, strict=True)}
        pilots = await pilot_states()
        ready = all(answer.is_success for answer in answers) and {OK, STARTING}.issuperset(
            pilots[PILOTS].values()
        )
        return JSONResponse({**report, **pilots}, status_code=200 if ready else 503)

    others = [
        Mount(f"/services/{short_name(name)}", service.app)
        for name, service in services.items()
        if name != "wfms.operator"
    ]
    pages = _CombinedPages(services["wfms.operator"].app, services["wfms.ask"].app)
    return Starlette(routes=[Route(READY_PATH, readyz), *others, Mount("/", pages)])


class _CombinedPages:
    """ASGI application of the operator's pages and of the pages on which people answer.

    The pages on which people answer have the same paths as in a separate human-task service.
    """

    def __init__(self, operator: ASGIApp, ask: ASGIApp) -> None:
        self._operator, self._ask = operator, ask

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asks = scope["type"] == "http" and scope["path"].startswith("/ask/")
        await (self._ask if asks else self._operator)(scope, receive, send)


def guard(app: ASGIApp, access: Access | None, services: Mapping[str, Service]) -> ASGIApp:
    """Return the application behind authentication, or open to everybody without ``access``."""
    if access is None:
        return open_to_anybody(app)
    account_authentication = services["wfms.operator"].account_authentication
    if account_authentication is None:
        raise TypeError("the operator service keeps no accounts of people")
    others = [service.authenticator for service in services.values() if service.authenticator]
    return access.guard(app, others, account_authentication)
