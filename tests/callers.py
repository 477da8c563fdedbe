"""Who asks, where a test asks an application without a server in front of it."""

from typing import TypeVar

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.types import ASGIApp

from sluice.servicekit.access.authentication import Authentication
from sluice.servicekit.access.policy import Other, policy, under

RouterT = TypeVar("RouterT", bound=APIRouter)


def for_anybody(app: ASGIApp) -> ASGIApp:
    """The application, for whom everybody may do everything."""
    return Authentication(app, None)


def open_to_all(router: RouterT) -> RouterT:
    """A router that stands in for another service's: each of its routes is for everybody."""
    for route in router.routes:
        assert isinstance(route, APIRoute)
        under(policy(Other.EVERYBODY))(route.endpoint)
    return router
