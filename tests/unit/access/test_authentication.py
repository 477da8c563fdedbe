"""Tests of how requests with credentials get a principal."""

import asyncio
from collections.abc import Mapping
from uuid import uuid4

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import NotAvailable, Unauthenticated
from sluice.servicekit.access.authentication import Authentication
from sluice.servicekit.access.principal import (
    Person,
    PilotCaller,
    Principal,
    find_principal,
    set_principal,
)
from sluice.servicekit.access.request_rate import MAX_CONCURRENT
from sluice.servicekit.database import TRANSIENT_ERRORS


class KnownTokens:
    """Two tokens, one of which has expired."""

    async def principal(self, token: str) -> Principal | None:
        if token == "old":
            raise Unauthenticated("the token ended yesterday")
        return Person("anna", Role.SHIFT) if token == "right" else None


async def _answer_with_names(scope: Scope, receive: Receive, send: Send) -> None:
    body = str(find_principal(scope)).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


async def _ask(app: ASGIApp, headers: Mapping[str, str]) -> httpx.Response:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://things"
    ) as client:
        return await client.get("/", headers=headers)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
async def test_token_identifies_the_principal(scheme: str) -> None:
    answer = await _ask(
        Authentication(_answer_with_names, KnownTokens()), {"Authorization": f"{scheme} right"}
    )

    assert answer.text == "anna (shift)"


async def test_request_without_a_token_has_no_principal() -> None:
    assert (await _ask(Authentication(_answer_with_names, KnownTokens()), {})).text == "None"


@pytest.mark.parametrize("error", [*TRANSIENT_ERRORS, NotAvailable])
async def test_request_is_not_available_while_tokens_cannot_be_checked(
    error: type[Exception],
) -> None:
    class Away:
        async def principal(self, token: str) -> Principal | None:
            raise error("the database is gone")

    answer = await _ask(
        Authentication(_answer_with_names, Away()), {"Authorization": "Bearer right"}
    )

    assert (answer.status_code, answer.json()["type"]) == (503, "urn:sluice:problem:not-available")


@pytest.mark.parametrize("credential", ["Bearer wrong", "Bearer", "Basic right", "right", ""])
async def test_unknown_token_is_refused(credential: str) -> None:
    answer = await _ask(
        Authentication(_answer_with_names, KnownTokens()), {"Authorization": credential}
    )

    assert answer.status_code == 401
    assert "this service does not know the token" in answer.json()["detail"]
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_refusal_has_the_reason_if_it_is_known() -> None:
    answer = await _ask(
        Authentication(_answer_with_names, KnownTokens()), {"Authorization": "Bearer old"}
    )

    assert answer.json()["detail"] == "the token ended yesterday"


async def test_without_authentication_every_request_is_allowed() -> None:
    assert (await _ask(Authentication(_answer_with_names, None), {})).text == "anybody"


async def test_principal_that_the_process_has_set_is_used() -> None:
    inner = Authentication(_answer_with_names, KnownTokens())

    async def of_this_process(scope: Scope, receive: Receive, send: Send) -> None:
        set_principal(scope, Person("bert", Role.ADMIN))
        await inner(scope, receive, send)

    answer = await _ask(of_this_process, {"Authorization": "Bearer wrong"})

    assert answer.text == "bert (admin)"


@pytest.mark.parametrize(
    ("first", "refused"),
    [
        (Person("anna", Role.SUBMITTER), True),
        (PilotCaller(uuid4()), True),
        (Person("anna", Role.ADMIN), False),
        (PilotCaller(site=uuid4()), False),
    ],
    ids=["person", "pilot", "administrator", "pilot that registers"],
)
async def test_number_of_concurrent_requests_of_a_principal_is_limited(
    first: Principal, refused: bool
) -> None:
    class Two:
        async def principal(self, token: str) -> Principal | None:
            return first if token == "first" else Person("bert", Role.SUBMITTER)

    ended, arrived = asyncio.Event(), asyncio.Semaphore(0)

    async def waits(scope: Scope, receive: Receive, send: Send) -> None:
        arrived.release()
        if scope["path"] == "/slow":
            await ended.wait()
        await _answer_with_names(scope, receive, send)

    transport = httpx.ASGITransport(Authentication(waits, Two()))
    mine = {"Authorization": "Bearer first"}
    async with httpx.AsyncClient(transport=transport, base_url="http://things") as client:
        slow = [
            asyncio.create_task(client.get("/slow", headers=mine)) for _ in range(MAX_CONCURRENT)
        ]
        async with asyncio.timeout(30):
            for _ in slow:
                await arrived.acquire()
        answer = await client.get("/", headers=mine)
        assert answer.status_code == (429 if refused else 200), answer.text
        assert (await client.get("/", headers={"Authorization": "Bearer other"})).is_success
        ended.set()
        assert all(answer.is_success for answer in await asyncio.gather(*slow))
        assert (await client.get("/", headers=mine)).is_success
