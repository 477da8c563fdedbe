"""Every service refuses query parameters that its OpenAPI document does not have."""

from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from scripts.docs.services import build_app
from sluice.contracts.access.services import SERVICES, CallingService
from sluice.servicekit.access.principal import ANYBODY, ServiceCaller, set_principal
from sluice.servicekit.web.known_queries import query_parameters


@pytest.mark.parametrize("service", SERVICES)
async def test_every_service_refuses_unknown_query_parameters(service: str) -> None:
    answer = await _ask(service, ANYBODY, "/healthz?lmit=3")
    assert answer.status_code == httpx.codes.UNPROCESSABLE_ENTITY
    [finding] = answer.json()["findings"]
    assert finding["message"] == (
        "query.lmit: there is no such parameter here: this address has none"
    )


async def test_refusal_lists_the_known_query_parameters() -> None:
    answer = await _ask("dms", ANYBODY, "/api/v1/stalled?lmit=3")
    assert answer.json()["detail"] == ("query.lmit: there is no such parameter here: use limit")


async def test_request_of_another_service_may_have_unknown_query_parameters() -> None:
    answer = await _ask("dms", ServiceCaller(CallingService.OPERATOR), "/healthz?lmit=3")
    assert answer.is_success


@pytest.mark.parametrize("service", SERVICES)
def test_openapi_document_has_every_query_parameter_of_a_route(service: str) -> None:
    app = build_app(service)
    paths: dict[str, Any] = app.openapi()["paths"]
    for route in app.routes:
        if not isinstance(route, APIRoute):
            assert not isinstance(route, Route) or route.path == app.openapi_url, route.path
            continue
        if route.path not in paths:
            continue  # Health and pictures of pages are not in the document.
        for method in route.methods or ():
            parameters = paths[route.path][method.lower()].get("parameters", [])
            names = {each["name"] for each in parameters if each["in"] == "query"}
            assert names == query_parameters(route), f"{method} {route.path}"


async def _ask(service: str, principal: Any, path: str) -> httpx.Response:
    app = build_app(service)

    async def call_as_principal(scope: Scope, receive: Receive, send: Send) -> None:
        set_principal(scope, principal)
        await app(scope, receive, send)

    transport = httpx.ASGITransport(call_as_principal)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as http:
        return await http.get(path)
