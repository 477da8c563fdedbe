"""Give every request all permissions, for tests of an application without a server."""

from typing import TypeVar

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.types import ASGIApp

from sluice.servicekit.access.authentication import Authentication
from sluice.servicekit.access.policy import Other, policy, under

RouterT = TypeVar("RouterT", bound=APIRouter)


def allow_everybody(app: ASGIApp) -> ASGIApp:
    """Return the application behind an authentication that permits everything to everybody."""
    return Authentication(app, None)


def open_to_all(router: RouterT) -> RouterT:
    """Return a router of a fake service after each of its routes was opened to everybody.

    The routes must be functions of another function. Routes at module level are shared with other
    applications, which would be opened, too.
    """
    for route in router.routes:
        assert isinstance(route, APIRoute)
        assert "<locals>" in route.endpoint.__qualname__, f"{route.path} is shared"
        under(policy(Other.EVERYBODY))(route.endpoint)
    return router
