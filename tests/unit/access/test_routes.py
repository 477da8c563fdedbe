"""Tests that each route of each service declares its permissions and refuses all other callers."""

from collections.abc import Iterator
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI
from flask import Flask
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Receive, Scope, Send
from structlog.testing import capture_logs

from scripts.docs.services import build_app
from sluice.contracts.access.access import Role
from sluice.contracts.access.services import SERVICES, CallingService
from sluice.contracts.common.problems import Forbidden
from sluice.servicekit.access.check import GuardedRoute
from sluice.servicekit.access.policy import MissingPolicy, allow, policy
from sluice.servicekit.access.principal import (
    Person,
    PilotCaller,
    Principal,
    ScraperCaller,
    ServiceCaller,
)
from sluice.servicekit.audit.requests import AuditedRequests
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.service_clients import ProcessLinks
from sluice.servicekit.web.http import Health, api_router, create_app
from tests.unit.access.table import OTHER_PILOT, PILOT, ROLES, Row, read_rows
from wfms.operator.http.access import check_access

CALLERS: dict[str, Principal | None] = {
    "nobody": None,
    **{role: Person("anna", Role(role)) for role in ROLES},
    **{f"service:{service}": ServiceCaller(service) for service in CallingService},
    "enrolled": PilotCaller(),
    PILOT: PilotCaller(UUID(PILOT)),
    OTHER_PILOT: PilotCaller(UUID(OTHER_PILOT)),
    "scraper": ScraperCaller(),
}


@pytest.fixture(autouse=True)
def no_audit_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn off the audit log, which needs a database."""

    async def passed(self: AuditedRequests, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    monkeypatch.setattr(AuditedRequests, "__call__", passed)


@pytest.mark.parametrize("service", SERVICES)
def test_each_route_is_guarded_and_documented(service: str) -> None:
    app: FastAPI = build_app(service)

    open_routes = [
        route.path
        for route in _list_routes(app.routes)
        if not isinstance(route.app, GuardedRoute) and route.path != app.openapi_url
    ]

    assert open_routes == []
    assert {row.address for row in read_rows() if row.service == service} >= {
        route.path for route in _list_routes(app.routes)
    }


def _list_routes(routes: list[BaseRoute]) -> Iterator[Route]:
    """Yield the routes. Routes of Flask are checked separately, before each request."""
    for route in routes:
        if not isinstance(route, Mount):
            assert isinstance(route, Route)
            yield route


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("caller", CALLERS)
async def test_access_to_each_route_is_as_documented_in_the_table(
    service: str, caller: str
) -> None:
    links = ProcessLinks()
    links.apps[service] = build_app(service)
    principal = CALLERS[caller]
    client = (
        httpx.AsyncClient(
            transport=httpx.ASGITransport(build_app(service), raise_app_exceptions=False),
            base_url=f"http://{service}",
        )
        if principal is None
        else links.http_of(principal, service)
    )
    mismatches = []

    # Allowed requests fail, as nothing is started, and the failures are logged.
    with capture_logs():
        for row in read_rows():
            if row.service == service:
                answer = await client.request(row.method, row.path)
                refused = _get_refusal_status(answer, service)
                if refused != _get_expected_status(row, caller):
                    mismatches.append((row.method, row.address, refused))
    await client.aclose()
    await links.stop()

    assert mismatches == []


def _get_expected_status(row: Row, caller: str) -> int | None:
    if "link:STEP" in row.who and caller in {"nobody", *ROLES}:
        return 401  # The browser of the caller has no session of a link.
    if row.lets(caller):
        return None
    return 401 if caller == "nobody" else 403


def _get_refusal_status(answer: httpx.Response, service: str) -> int | None:
    """Return the status of a refusal. A page that lacks the token of its form, and a service
    without a key here, are refused for other reasons."""
    if answer.status_code == 403 and Forbidden.title not in answer.text:
        return None
    kind = answer.headers.get("content-type", "")
    problem = answer.json() if kind.endswith(("/json", "+json")) else {}
    if answer.status_code == 401 and problem.get("fields", {}).get("service", service) != service:
        return None
    return answer.status_code if answer.status_code in {401, 403} else None


async def test_refusal_says_which_permission_is_missing() -> None:
    links = ProcessLinks()
    links.apps["wms"] = build_app("wms")

    async with links.http_of(Person("anna", Role.VIEWER), "wms") as anna:
        refused = (await anna.put("/api/v1/limits", json={})).json()
    async with links.http_of(ServiceCaller(CallingService.DMS), "wms") as dms:
        other = (await dms.put("/api/v1/boosts", json={})).json()
    transport = httpx.ASGITransport(build_app("wms"))
    async with httpx.AsyncClient(transport=transport, base_url="http://wms") as nobody:
        unknown = await nobody.get("/api/v1/pilots")

    assert refused["type"] == "urn:sluice:problem:forbidden"
    assert refused["detail"] == ("anna (viewer) may not do this: it is for service:wfms.operator")
    assert other["detail"] == "the service dms may not do this: it is for service:wfms.chains"
    assert unknown.status_code == 401
    assert unknown.headers["www-authenticate"] == "Bearer"
    assert "'Authorization: Bearer TOKEN'" in unknown.json()["detail"]


def test_route_without_a_policy_prevents_the_start_of_the_service() -> None:
    router = api_router()

    @router.get("/things")
    async def things() -> dict[str, str]:
        return {}

    with pytest.raises(MissingPolicy, match="GET /things declares no access policy"):
        create_app("things", [router], health=Health({}), metrics=ServiceMetrics())


def test_page_without_a_policy_prevents_the_start_of_the_service() -> None:
    flask = Flask("things", static_folder=None)
    flask.add_url_rule("/things", "things", lambda: "")

    with pytest.raises(MissingPolicy, match="the page things declares no access policy"):
        check_access(flask, lambda _rule, _path: None)


def test_policy_names_a_caller_and_at_most_one_role() -> None:
    with pytest.raises(TypeError, match="at least one principal"):
        policy()
    for role in (Role.VIEWER, Role.SUBMITTER):
        with pytest.raises(TypeError, match="'own' adds nothing to a role"):
            policy(role, own=True)
    with pytest.raises(TypeError, match="one role"):
        allow(Role.VIEWER, Role.ADMIN)
