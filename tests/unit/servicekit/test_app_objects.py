"""Routes get the objects of the application that answers, and applications share routers."""

from dataclasses import dataclass
from typing import Annotated

import httpx
import pytest
from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute

from sluice.servicekit.access.policy import Other, allow
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.web.dependencies import MissingObject, from_app
from sluice.servicekit.web.http import Health, api_router, create_app
from tests.callers import allow_everybody, open_to_all


@dataclass(frozen=True)
class Shelf:
    books: str


class PublicShelf(Shelf):
    """A shelf of a class that derives from ``Shelf``."""


router = api_router("/shelf")


def _find_books(shelf: Annotated[Shelf, Depends(from_app(Shelf))]) -> str:
    return shelf.books


@router.get("")
@allow(Other.EVERYBODY)
async def get_shelf_route(shelf: Annotated[Shelf, Depends(from_app(Shelf))]) -> str:
    """Return the books on the shelf."""
    return shelf.books


nested_router = api_router("/books")


@nested_router.get("")
@allow(Other.EVERYBODY)
async def get_books_route(books: Annotated[str, Depends(_find_books)]) -> str:
    """Return the books on the shelf that another dependency found."""
    return books


def build_app(*provided: object) -> FastAPI:
    routers = [router, nested_router]
    return create_app(
        "library", routers, health=Health({}), metrics=ServiceMetrics(), provide=provided
    )


async def ask(app: FastAPI, path: str) -> str:
    transport = httpx.ASGITransport(allow_everybody(app))
    async with httpx.AsyncClient(transport=transport, base_url="http://library") as http:
        answer = await http.get(path)
    books: str = answer.json()
    return books


@pytest.mark.parametrize("path", ["/shelf", "/books"])
async def test_route_of_two_applications_gets_the_object_of_each(path: str) -> None:
    first, second = build_app(Shelf("Emma")), build_app(Shelf("Ulysses"))
    assert [await ask(app, path) for app in (first, second, first)] == ["Emma", "Ulysses", "Emma"]


async def test_object_is_found_by_a_class_that_its_class_derives_from() -> None:
    assert await ask(build_app(PublicShelf("Emma")), "/shelf") == "Emma"


@pytest.mark.parametrize("wanted", [router, nested_router])
def test_application_without_an_object_of_a_route_is_not_built(wanted: APIRouter) -> None:
    with pytest.raises(MissingObject, match=r"GET /\w+ needs a Shelf: add one to .*'provide'"):
        create_app("library", [wanted], health=Health({}), metrics=ServiceMetrics())


def test_application_leaves_its_routers_unchanged() -> None:
    """A guarded route would check the owners of one application in another one."""
    before = [route.app for route in router.routes if isinstance(route, APIRoute)]
    build_app(Shelf("Emma"))
    assert [route.app for route in router.routes if isinstance(route, APIRoute)] == before


def test_another_application_analyses_no_route_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = build_app(Shelf("Emma"))

    def refuse(route: APIRoute, path: str, *args: object, **options: object) -> None:
        raise AssertionError(f"{path} is analysed again")

    monkeypatch.setattr(APIRoute, "__init__", refuse)
    assert build_app(Shelf("Ulysses")).state.policies == first.state.policies


def test_route_of_a_service_is_not_opened_to_all() -> None:
    with pytest.raises(AssertionError, match="shared"):
        open_to_all(router)
