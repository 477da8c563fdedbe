"""Signing in with a token, by an address or a form, and out again."""

from collections.abc import AsyncIterator
from urllib.parse import quote

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from sluice.contracts.access import Role
from sluice.servicekit.access.authentication import Authentication
from sluice.servicekit.access.principal import Person, PilotCaller, principal_of
from sluice.servicekit.access.sessions import Sessions
from sluice.servicekit.access.sign_in import SignIn
from sluice.servicekit.access.tokens import FixedTokens

TOKEN, PILOT_TOKEN = "open-sesame", "of-a-pilot"


async def _names(scope: Scope, receive: Receive, send: Send) -> None:
    body = f"{principal_of(scope)} at {scope['path']}?{scope['query_string'].decode()}".encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
async def browser() -> AsyncIterator[httpx.AsyncClient]:
    known = FixedTokens({TOKEN: Person("anna", Role.ADMIN), PILOT_TOKEN: PilotCaller()})
    sessions = Sessions("key")
    app = SignIn(Authentication(_names, known, sessions), known, sessions)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://things"
    ) as client:
        yield client


async def test_an_address_with_the_token_signs_in_and_is_left(browser: httpx.AsyncClient) -> None:
    answer = await browser.get(f"/chains?state=failed&token={TOKEN}&page=2")

    assert answer.status_code == 303
    assert answer.headers["location"] == "/chains?state=failed&page=2"
    assert answer.headers["cache-control"] == "no-store"
    assert (await browser.get("/")).text == "anna (admin) at /?"


@pytest.mark.parametrize("token", ["wrong", "", PILOT_TOKEN])
async def test_an_address_with_another_token_opens_nothing(
    browser: httpx.AsyncClient, token: str
) -> None:
    answer = await browser.get(f"/chains?token={token}")

    assert answer.status_code == 200
    assert answer.text.startswith("None at /chains")
    assert "set-cookie" not in answer.headers


async def test_a_form_signs_in_and_leads_back(browser: httpx.AsyncClient) -> None:
    form = {"token": f" {TOKEN} ", "next": "/tasks?state=running"}
    answer = await browser.post("/sign-in", data=form)

    assert (answer.status_code, answer.headers["location"]) == (303, "/tasks?state=running")
    assert (await browser.get("/")).text.startswith("anna (admin)")


@pytest.mark.parametrize("token", ["wrong", "", PILOT_TOKEN])
async def test_a_form_with_another_token_says_so(browser: httpx.AsyncClient, token: str) -> None:
    answer = await browser.post("/sign-in", data={"token": token, "next": "/tasks"})

    assert answer.headers["location"] == "/tasks?signed-in=no"
    assert "set-cookie" not in answer.headers


ELSEWHERE = [
    "http://evil.example/",
    "//evil.example/",
    "/\\evil.example/",
    "\\\\evil.example",
    "javascript:alert(1)",
    "evil.example",
    "",
]


@pytest.mark.parametrize("there", ELSEWHERE)
async def test_nobody_is_led_to_another_site(browser: httpx.AsyncClient, there: str) -> None:
    answer = await browser.post("/sign-in", data={"token": TOKEN, "next": there})

    assert answer.headers["location"] == "/"


async def test_nor_by_an_address(browser: httpx.AsyncClient) -> None:
    path = quote("//evil.example/")
    answer = await browser.send(httpx.Request("GET", f"http://things/{path}?token={TOKEN}"))

    assert answer.headers["location"] == "/"


async def test_signing_out_ends_the_session(browser: httpx.AsyncClient) -> None:
    await browser.get(f"/?token={TOKEN}")

    left = await browser.post("/sign-out")

    assert (left.status_code, left.headers["location"]) == (303, "/")
    assert (await browser.get("/")).text == "None at /?"


async def test_a_token_in_the_query_signs_nobody_in_who_changes_something(
    browser: httpx.AsyncClient,
) -> None:
    answer = await browser.post(f"/chains?token={TOKEN}")

    assert answer.text.startswith("None at /chains")
    assert "set-cookie" not in answer.headers
