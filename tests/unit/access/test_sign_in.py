"""Tests of signing in with a token in an address or with a form, and of signing out."""

from collections.abc import AsyncIterator
from urllib.parse import quote

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.access.access import Role
from sluice.servicekit.access.authentication import Authentication
from sluice.servicekit.access.principal import Person, PilotCaller, Principal, find_principal
from sluice.servicekit.access.sessions import Sessions
from sluice.servicekit.access.sign_in import SignIn
from tests.unit.access.remembered_people import RememberedPeople

TOKEN, PILOT_TOKEN = "open-sesame", "of-a-pilot"
PASSWORD, COOKIE = "a long password", "whose"


async def _answer_with_names(scope: Scope, receive: Receive, send: Send) -> None:
    body = f"{find_principal(scope)} at {scope['path']}?{scope['query_string'].decode()}".encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def people() -> RememberedPeople:
    anna, bert = Person("anna", Role.ADMIN), Person("bert", Role.VIEWER)
    tokens: dict[str, Principal] = {TOKEN: anna, PILOT_TOKEN: PilotCaller(), "of-bert": bert}
    return RememberedPeople(tokens, {"bert": PASSWORD, "carla": ""})


def make_sign_in_guard(people: RememberedPeople, *, by_address: bool = True) -> ASGIApp:
    sessions = Sessions(people, COOKIE)
    app = Authentication(_answer_with_names, people, sessions)
    return SignIn(app, sessions, tokens=people, by_address=people if by_address else None)


def open_client(app: ASGIApp, scheme: str = "http") -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=f"{scheme}://things")


@pytest.fixture
async def browser(people: RememberedPeople) -> AsyncIterator[httpx.AsyncClient]:
    async with open_client(make_sign_in_guard(people)) as client:
        yield client


async def test_address_with_a_token_signs_in_and_redirects_without_the_token(
    browser: httpx.AsyncClient,
) -> None:
    answer = await browser.get(f"/chains?state=failed&token={TOKEN}&page=2")

    assert answer.status_code == 303
    assert answer.headers["location"] == "/chains?state=failed&page=2"
    assert answer.headers["cache-control"] == "no-store"
    assert (await browser.get("/")).text == "anna (admin) at /?"


@pytest.mark.parametrize("token", ["wrong", "", PILOT_TOKEN])
async def test_address_with_an_invalid_token_does_not_sign_in(
    browser: httpx.AsyncClient, token: str
) -> None:
    answer = await browser.get(f"/chains?token={token}")

    assert answer.status_code == 200
    assert answer.text.startswith("None at /chains")
    assert "set-cookie" not in answer.headers


async def test_form_with_a_token_signs_in_and_redirects_to_the_page(
    browser: httpx.AsyncClient,
) -> None:
    form = {"token": f" {TOKEN} ", "next": "/tasks?state=running"}
    answer = await browser.post("/sign-in", data=form)

    assert (answer.status_code, answer.headers["location"]) == (303, "/tasks?state=running")
    assert (await browser.get("/")).text.startswith("anna (admin)")


@pytest.mark.parametrize("token", ["wrong", "", PILOT_TOKEN])
async def test_form_with_an_invalid_token_redirects_with_an_error(
    browser: httpx.AsyncClient, token: str
) -> None:
    answer = await browser.post("/sign-in", data={"token": token, "next": "/tasks"})

    assert answer.headers["location"] == "/tasks?signed-in=no"
    assert "set-cookie" not in answer.headers


async def test_form_with_a_name_and_a_password_signs_in(browser: httpx.AsyncClient) -> None:
    form = {"name": "bert", "password": PASSWORD, "next": "/tasks"}
    answer = await browser.post("/sign-in", data=form)

    assert (answer.status_code, answer.headers["location"]) == (303, "/tasks")
    assert (await browser.get("/")).text.startswith("bert (viewer)")


@pytest.mark.parametrize(
    ("name", "password", "why"),
    [
        ("bert", "another", "no"),
        ("bert", "", "no"),
        ("nobody", PASSWORD, "no"),
        ("carla", PASSWORD, "later"),
    ],
)
async def test_wrong_password_does_not_sign_in_even_with_a_valid_token(
    browser: httpx.AsyncClient, name: str, password: str, why: str
) -> None:
    form = {"name": name, "password": password, "token": TOKEN, "next": "/tasks"}
    answer = await browser.post("/sign-in", data=form)

    assert answer.headers["location"] == f"/tasks?signed-in={why}"
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("operation", ["sign-in", "sign-out", "a page"])
async def test_database_failure_does_not_end_the_session(
    people: RememberedPeople, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    async def away(*_: object, **__: object) -> None:
        raise OSError("the database is gone")

    async with open_client(make_sign_in_guard(people)) as browser:
        await browser.post("/sign-in", data={"token": TOKEN})
        for what in ("begin_session", "end_session", "in_session"):
            monkeypatch.setattr(people, what, away)
        match operation:
            case "a page":
                answer = await browser.get("/")
            case _:
                answer = await browser.post(f"/{operation}", data={"token": TOKEN})

    assert (answer.status_code, "set-cookie" in answer.headers) == (503, False)


async def test_form_with_a_thousand_fields_is_refused(browser: httpx.AsyncClient) -> None:
    answer = await browser.post("/sign-in", data={f"f{n}": "x" for n in range(1000)})

    assert (answer.status_code, "set-cookie" in answer.headers) == (422, False)


ELSEWHERE = [
    "http://evil.example/",
    "//evil.example/",
    "/\\evil.example/",
    "\\\\evil.example",
    "javascript:alert(1)",
    "evil.example",
    "//[",
    "",
]


@pytest.mark.parametrize("there", ELSEWHERE)
async def test_sign_in_does_not_redirect_to_another_site(
    browser: httpx.AsyncClient, there: str
) -> None:
    answer = await browser.post("/sign-in", data={"token": TOKEN, "next": there})

    assert answer.headers["location"] == "/"


async def test_address_with_a_token_does_not_redirect_to_another_site(
    browser: httpx.AsyncClient,
) -> None:
    path = quote("//evil.example/")
    answer = await browser.send(httpx.Request("GET", f"http://things/{path}?token={TOKEN}"))

    assert answer.headers["location"] == "/"


async def test_sign_out_ends_the_session(browser: httpx.AsyncClient) -> None:
    await browser.get(f"/?token={TOKEN}")

    cookies = dict(browser.cookies)
    left = await browser.post("/sign-out")

    assert (left.status_code, left.headers["location"]) == (303, "/")
    assert (await browser.get("/")).text == "None at /?"
    copied = await browser.get("/", headers={"cookie": f"{COOKIE}={cookies[COOKIE]}"})
    assert copied.text == "None at /?", "a copy of the cookie is not valid any more"


async def test_each_sign_in_begins_a_new_session_and_ends_the_previous_session(
    browser: httpx.AsyncClient, people: RememberedPeople
) -> None:
    chosen = {"cookie": f"{COOKIE}=chosen by somebody else"}
    await browser.post("/sign-in", data={"token": TOKEN}, headers=chosen)
    [first] = people.sessions
    await browser.post("/sign-in", data={"token": "of-bert"})
    [second] = people.sessions

    assert len({first, second, "chosen by somebody else"}) == 3
    assert (await browser.get("/")).text.startswith("bert")


async def test_session_cookie_is_protected_from_scripts_and_other_sites(
    people: RememberedPeople,
) -> None:
    app = make_sign_in_guard(people)
    async with open_client(app) as plain, open_client(app, "https") as private:
        by_http = (await plain.get(f"/?token={TOKEN}")).headers["set-cookie"].split("; ")
        by_tls = (await private.get(f"/?token={TOKEN}")).headers["set-cookie"].split("; ")
        attributes = (await plain.post("/sign-out")).headers["set-cookie"].split("; ")

    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(by_http)
    assert "Secure" not in by_http
    assert "Secure" in by_tls
    assert "Max-Age=0" in attributes


@pytest.mark.parametrize("cookies", ["", "whose", "whose=", "=;;=", "whose=other", "who se=1"])
async def test_invalid_session_cookie_has_no_principal(
    browser: httpx.AsyncClient, cookies: str
) -> None:
    answer = await browser.get("/", headers={"cookie": cookies})
    assert answer.text == "None at /?"


async def test_token_in_an_address_is_ignored_where_addresses_have_no_tokens(
    people: RememberedPeople,
) -> None:
    async with open_client(make_sign_in_guard(people, by_address=False)) as browser:
        answer = await browser.get(f"/?token={TOKEN}")

    assert answer.text.startswith("None at /")
    assert "set-cookie" not in answer.headers


async def test_token_in_the_query_of_a_post_request_does_not_sign_in(
    browser: httpx.AsyncClient,
) -> None:
    answer = await browser.post(f"/chains?token={TOKEN}")

    assert answer.text.startswith("None at /chains")
    assert "set-cookie" not in answer.headers
