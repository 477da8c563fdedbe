"""What a service answers where it serves nothing, or not by the method used."""

import httpx
import pytest
from fastapi import APIRouter

from sluice.servicekit.http import Health, create_app
from sluice.servicekit.metrics import ServiceMetrics
from tests.callers import open_to_all


@pytest.fixture
def http() -> httpx.AsyncClient:
    router = APIRouter(prefix="/api/v1/things")

    @router.get("")
    async def things() -> list[str]:
        return []

    @router.post("")
    async def make() -> str:
        return "made"

    app = create_app("things", [open_to_all(router)], health=Health({}), metrics=ServiceMetrics())
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://things")


async def test_an_address_that_is_not_served_is_named(http: httpx.AsyncClient) -> None:
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


async def test_a_wrong_method_is_refused_with_all_that_are_right(http: httpx.AsyncClient) -> None:
    """Also where several routes serve one address."""
    answer = await http.put("/api/v1/things")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    assert answer.json()["type"] == "urn:sluice:problem:wrong-method"
    assert (
        answer.json()["detail"]
        == "PUT is not possible at /api/v1/things: use GET, POST (/api/openapi.json lists what"
        " there is)"
    )
