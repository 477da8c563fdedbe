"""Tests of delegation: a service makes requests for the person whose request it answers, and for
nobody else."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.access.access import ON_BEHALF_HEADER, Role
from sluice.contracts.access.owners import ALL, EVERYONE, Visibility
from sluice.contracts.access.services import CallingService
from sluice.servicekit.access.authentication import Authentication
from sluice.servicekit.access.delegation import (
    current_person,
    current_visibility,
    delegation_header,
)
from sluice.servicekit.access.principal import (
    ANYBODY,
    Person,
    PilotCaller,
    Principal,
    ServiceCaller,
    find_principal,
    get_visibility,
)
from sluice.servicekit.audit.request import PersonRequest, bind_request
from sluice.servicekit.running.service_clients import ProcessLinks

ANNA = Person("anna", Role.SHIFT, ("ocr", "spd"))
ROOT = Person("root", Role.ADMIN)
REQUEST = UUID("11111111-1111-4111-8111-111111111111")
OPERATOR, CHAINS, DMS, INTAKE = (
    CallingService.OPERATOR,
    CallingService.CHAINS,
    CallingService.DMS,
    CallingService.INTAKE,
)


class PrincipalsByToken:
    """Principals by their tokens."""

    def __init__(self, **principals: Principal) -> None:
        self._principals = principals

    async def principal(self, token: str) -> Principal | None:
        return self._principals.get(token)


async def answer_with_principal(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the principal of the request."""
    principal = find_principal(scope)
    await JSONResponse({"who": str(principal)})(scope, receive, send)


@asynccontextmanager
async def open_client(app: ASGIApp) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
        yield http


async def send_request(principal: Principal, header: str | None) -> httpx.Response:
    """Send a request with this header over a network and return the answer."""
    guarded = Authentication(answer_with_principal, PrincipalsByToken(token=principal))
    headers = {"authorization": "Bearer token"}
    headers |= {} if header is None else {ON_BEHALF_HEADER: header}
    async with open_client(guarded) as http:
        return await http.get("/", headers=headers)


def call_as_person(service: CallingService, person: Person | None) -> str | None:
    with bind_request(None if person is None else PersonRequest(person, REQUEST)):
        return delegation_header(service)


async def test_delegation_header_names_the_person_over_a_network() -> None:
    header = call_as_person(OPERATOR, ANNA)
    answer = await send_request(ServiceCaller(OPERATOR), header)
    assert answer.json() == {"who": "the service wfms.operator for anna (shift)"}
    name = Person("Ünï ☃ (owner)", Role.ADMIN)
    strange = call_as_person(OPERATOR, name)
    assert strange is not None
    assert strange.isascii()
    answer = await send_request(ServiceCaller(OPERATOR), strange)
    assert answer.json() == {"who": f"the service wfms.operator for {name}"}


@pytest.mark.parametrize("service", [each for each in CallingService if each is not OPERATOR])
async def test_only_the_operator_service_may_delegate(service: CallingService) -> None:
    assert call_as_person(service, ANNA) is None
    answer = await send_request(ServiceCaller(service), call_as_person(OPERATOR, ANNA))
    assert (answer.status_code, "may not act on behalf of others" in answer.text) == (401, True)


@pytest.mark.parametrize("principal", [ANNA, PilotCaller(), ANYBODY])
async def test_delegation_header_of_a_caller_that_is_no_service_is_ignored(
    principal: Principal,
) -> None:
    answer = await send_request(principal, call_as_person(OPERATOR, ROOT))
    assert answer.json() == {"who": str(principal)}


@pytest.mark.parametrize(
    "header",
    [
        "",
        "anna",
        "{}",
        '{"name": "anna", "role": "king", "groups": []}',
        '{"name": "anna", "role": "admin"}',
        '{"name": "anna", "role": "admin", "groups": ["UPPER"]}',
        '{"name": "anna", "role": "admin", "groups": []}',
        f'{{"name": "anna", "role": "admin", "groups": [], "request": "{REQUEST}", "more": 1}}',
    ],
)
async def test_invalid_delegation_header_is_refused(header: str) -> None:
    """Otherwise it would count as a request of the service itself, which sees all."""
    answer = await send_request(ServiceCaller(OPERATOR), header)
    assert (answer.status_code, "does not name one person" in answer.text) == (401, True)


def _make_links(callers: dict[str, Any]) -> ProcessLinks:
    """Return links where the operator service calls the chain service, which calls the DMS and the
    operator service."""
    links = ProcessLinks()

    async def ask(scope: Scope, name: str, *others: str) -> None:
        request = Request(scope)
        callers[f"{name}{request.url.path}"] = str(find_principal(scope))
        for other in others:
            await links.of(name).http(other).get(f"/{name}")
        callers[f"{name}{request.url.path} afterwards"] = current_person()

    def app_of(name: str, *others: str) -> ASGIApp:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            first = not scope["path"].startswith("/wfms")
            await ask(scope, name, *(others if first or name != OPERATOR else ()))
            await JSONResponse({})(scope, receive, send)

        return app

    links.apps[OPERATOR] = app_of(OPERATOR, CHAINS)
    links.apps[CHAINS] = app_of(CHAINS, DMS, OPERATOR)
    links.apps[DMS] = app_of(DMS)
    return links


async def test_delegation_in_one_process_names_service_and_person() -> None:
    callers: dict[str, Any] = {}
    links = _make_links(callers)
    async with links.http_of(ANNA, OPERATOR) as anna:
        await anna.get("/")
    await links.stop()
    assert callers[f"{OPERATOR}/"] == "anna (shift)"
    assert callers[f"{CHAINS}/{OPERATOR}"] == "the service wfms.operator for anna (shift)"
    # The chain service makes its own requests for itself.
    assert callers[f"{DMS}/{CHAINS}"] == "the service wfms.chains"
    assert callers[f"{OPERATOR}/{CHAINS}"] == "the service wfms.chains"
    assert callers[f"{OPERATOR}/{CHAINS} afterwards"] is None
    # Requests in between do not change the person of the outer request.
    assert callers[f"{OPERATOR}/ afterwards"] == ANNA
    assert current_person() is None


async def test_service_without_a_request_of_a_person_asks_for_itself() -> None:
    callers: dict[str, Any] = {}
    links = _make_links(callers)
    await links.of(OPERATOR).http(CHAINS).get("/loop")
    await links.stop()
    assert callers[f"{CHAINS}/loop"] == "the service wfms.operator"


def test_visibility_follows_the_groups_of_the_person() -> None:
    assert get_visibility(ANNA) == Visibility(frozenset({EVERYONE, "ocr", "spd"}))
    assert get_visibility(ServiceCaller(OPERATOR, ANNA)) == get_visibility(ANNA)
    for sees_all in (ROOT, ServiceCaller(OPERATOR, ROOT), ServiceCaller(DMS), ANYBODY):
        assert get_visibility(sees_all) == ALL
    for nobody in (None, PilotCaller()):
        assert not get_visibility(nobody).sees(EVERYONE)
    with bind_request(PersonRequest(ANNA, REQUEST)):
        assert current_visibility() == get_visibility(ANNA)
    assert current_visibility() == ALL


def test_delegation_header_is_plain_json() -> None:
    header = call_as_person(OPERATOR, ANNA)
    assert json.loads(header or "") == {
        "name": "anna",
        "role": "shift",
        "groups": ["ocr", "spd"],
        "request": str(REQUEST),
    }
