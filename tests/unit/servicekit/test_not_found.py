"""Tests of the answers of a service to unknown addresses and wrong methods."""

from typing import Annotated
from uuid import UUID

import httpx
import pytest
from fastapi import APIRouter, FastAPI, Path
from starlette.applications import Starlette
from starlette.routing import Mount

from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.web.http import Health, create_app
from tests.callers import open_to_all


@pytest.fixture
def things() -> FastAPI:
    router = APIRouter(prefix="/api/v1/things")

    @router.get("")
    async def list_things() -> list[str]:
        return []

    @router.post("")
    async def make() -> str:
        return "made"

    @router.post("/{name}/disable")
    async def disable(name: str) -> str:
        return name

    @router.get("/{number}/text")
    async def text(number: Annotated[int, Path(ge=1, le=9)]) -> str:
        return str(number)

    @router.get("/parts/{uid}")
    async def one(uid: UUID) -> str:
        return str(uid)

    return create_app("things", [open_to_all(router)], health=Health({}), metrics=ServiceMetrics())


@pytest.fixture
def http(things: FastAPI) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(things), base_url="http://things")


async def test_unknown_address_is_named_in_the_error(http: httpx.AsyncClient) -> None:
    answer = await http.get("/api/v1/thing")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "urn:sluice:problem:not-found"
    assert (
        answer.json()["detail"]
        == "nothing is served at /api/v1/thing: look at the address (/api/openapi.json lists what"
        " there is)"
    )
    assert len((await http.get("/" + "x" * 5000)).json()["detail"]) < 300


async def test_wrong_method_is_refused_with_the_allowed_methods(http: httpx.AsyncClient) -> None:
    """Two routes serve this address."""
    answer = await http.put("/api/v1/things")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    assert answer.json()["type"] == "urn:sluice:problem:wrong-method"
    assert (
        answer.json()["detail"]
        == "PUT is not possible at /api/v1/things: use GET, POST (/api/openapi.json lists what"
        " there is)"
    )


@pytest.mark.parametrize("path", ["a%2Fb", "a%2fb/disable", "a%2Fdisable"])
async def test_name_with_a_slash_is_not_found(http: httpx.AsyncClient, path: str) -> None:
    answer = await http.post(f"/api/v1/things/{path}")
    assert answer.status_code == 404
    name = path.removesuffix("/disable").replace("%2F", "/").replace("%2f", "/")
    assert answer.json()["detail"] == f"there is no thing '{name}': names have no '/'"


async def test_name_with_a_slash_is_not_found_in_a_mounted_service(
    things: FastAPI,
) -> None:
    outer = Starlette(routes=[Mount("/services/things", things)])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(outer), base_url="http://o") as over:
        answer = await over.post("/services/things/api/v1/things/a%2Fb/disable")
    assert answer.json()["detail"] == "there is no thing 'a/b': names have no '/'"


async def test_control_characters_are_escaped_in_the_error_about_a_slash(
    http: httpx.AsyncClient,
) -> None:
    detail = (await http.get("/api/v1/things/%1b%2F%E2%80%AE%ff")).json()["detail"]
    assert detail.startswith(r"there is no thing '\x1b/\u202e\xff'")


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("0/text", "there is no thing '0': give a number of 1 or more"),
        ("10/text", "there is no thing '10': give a number of 9 or less"),
        ("x/text", "there is no thing 'x': give its number"),
        ("9" * 250 + "/text", f"there is no thing '{'9' * 200}…': give a number of 9"),
        ("parts/x", "there is no part 'x': give its uid, 32 hexadecimal digits"),
    ],
)
async def test_invalid_id_in_a_path_is_refused_in_words(
    http: httpx.AsyncClient, path: str, detail: str
) -> None:
    answer = await http.get(f"/api/v1/things/{path}")
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(detail)
