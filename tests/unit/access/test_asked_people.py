"""How a service learns whose a token of a person is."""

from collections.abc import Callable

import httpx
import pytest
from cachetools import TTLCache

from sluice.contracts.access import Role
from sluice.contracts.people import TokenHolder, TokenQuestion
from sluice.contracts.problems import NotAvailable
from sluice.servicekit.access.people import REMEMBERED, WHOSE, RemoteAccounts
from sluice.servicekit.access.principal import Person

TOKEN = "sluice_of-anna"


class Desk:
    """Answers in place of the service that knows people."""

    def __init__(self) -> None:
        self.holder = TokenHolder(name="anna", role=Role.SHIFT)
        self.asked: list[str] = []
        self.status = 200

    def __call__(self, request: httpx.Request) -> httpx.Response:
        assert (request.method, request.url.path) == ("POST", WHOSE)
        question = TokenQuestion.model_validate_json(request.content)
        self.asked.append(question.token.get_secret_value())
        return httpx.Response(self.status, content=self.holder.model_dump_json())


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def asked(desk: Desk) -> RemoteAccounts:
    transport = httpx.MockTransport(desk)
    return RemoteAccounts(httpx.AsyncClient(transport=transport, base_url="http://operator"))


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch, asked: RemoteAccounts) -> Callable[[float], None]:
    now = [1000.0]
    monkeypatch.setattr(asked, "_known", TTLCache(4, REMEMBERED, timer=lambda: now[0]))

    def wait(seconds: float) -> None:
        now[0] += seconds

    return wait


async def test_an_answer_is_remembered_for_a_while_and_no_longer(
    desk: Desk, asked: RemoteAccounts, later: Callable[[float], None]
) -> None:
    assert await asked.principal(TOKEN) == Person("anna", Role.SHIFT)
    desk.holder = TokenHolder()
    later(REMEMBERED - 1)
    assert await asked.principal(TOKEN) == Person("anna", Role.SHIFT)
    later(1)
    assert await asked.principal(TOKEN) is None
    assert await asked.principal(TOKEN) is None, "that nobody has it is remembered, too"
    assert desk.asked == [TOKEN, TOKEN]


async def test_nobody_is_asked_about_what_is_no_token_of_a_person(
    desk: Desk, asked: RemoteAccounts
) -> None:
    assert await asked.principal("eyJhbGciOiJFZDI1NTE5In0.e30.x") is None
    assert desk.asked == []


async def test_where_nobody_can_say_it_nobody_is_let_in_and_nobody_refused(
    desk: Desk, asked: RemoteAccounts
) -> None:
    desk.status = 503
    with pytest.raises(NotAvailable, match="does not say whose the token is"):
        await asked.principal(TOKEN)
    desk.status = 200
    assert await asked.principal(TOKEN) == Person("anna", Role.SHIFT)


async def test_a_long_token_is_no_question(asked: RemoteAccounts, desk: Desk) -> None:
    assert await asked.principal("sluice_" + "x" * 5000) is None
    assert desk.asked == []
