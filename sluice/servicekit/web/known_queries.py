"""Rejection of query parameters that a route does not have."""

from collections.abc import Collection, Iterable
from urllib.parse import parse_qsl

from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Cookie, Header, Path
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.common.problems import Finding, Unprocessable
from sluice.servicekit.access.principal import (
    THIS_PROCESS,
    Principal,
    ServiceCaller,
    find_principal,
)


class UnknownQuery(Unprocessable):
    """The request has a query parameter that the route does not know."""

    slug, title = "invalid-request", "Malformed request"

    def __init__(self, unknown: Iterable[str], known_names: Collection[str]) -> None:
        advice = f"use {', '.join(sorted(known_names))}" if known_names else "this address has none"
        findings = [
            Finding(message=f"query.{name}: there is no such parameter here: {advice}")
            for name in sorted(unknown)
        ]
        super().__init__("; ".join(each.message for each in findings), findings=findings)


def require_known_query(
    principal: Principal | None, names: Iterable[str], known_names: Collection[str]
) -> None:
    """Check that the route knows all query parameters of a request.

    Requests of other services, and of this process, pass. During an upgrade, a service of the next
    release may send a parameter that this release does not know yet. It then reads an answer
    without the parameter (ADR 5).

    Args:
        principal: The sender of the request.
        names: The names in the query of the request.
        known_names: The names that the route reads.

    Raises:
        UnknownQuery: There is an unknown parameter. Ignoring a misspelt one would give wrong
            answers.
    """
    unknown = set(names).difference(known_names)
    is_service = isinstance(principal, ServiceCaller) or principal is THIS_PROCESS
    if unknown and not is_service:
        raise UnknownQuery(unknown, known_names)


def query_parameters(route: BaseRoute) -> frozenset[str]:
    """Return the names of the query parameters that a route reads."""
    if not isinstance(route, APIRoute):
        return frozenset()
    return frozenset(
        field.alias
        for field in get_flat_params(route.dependant)
        if not isinstance(field.field_info, Path | Header | Cookie)
    )


class KnownQuery:
    """ASGI application of one route that rejects requests with unknown query parameters."""

    def __init__(self, app: ASGIApp, known_names: Collection[str]) -> None:
        self._app = app
        self._known_names = known_names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the query parameters, then pass the request on."""
        if query := scope["query_string"]:
            pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
            require_known_query(
                find_principal(scope), (name for name, _ in pairs), self._known_names
            )
        await self._app(scope, receive, send)
