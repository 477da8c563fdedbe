"""Tests of how a service finds the person of a token."""

from collections.abc import Callable

import httpx
import pytest
from cachetools import TTLCache

from sluice.contracts.access.access import Role
from sluice.contracts.access.people import TokenHolder
from sluice.contracts.common.problems import NotAvailable
from sluice.servicekit.access.people import CACHE_SECONDS, RemoteAccounts
from sluice.servicekit.access.principal import Person
from tests.unit.access.fake_account_service import FakeAccountService

TOKEN = "sluice_of-anna"


@pytest.fixture
def account_service() -> FakeAccountService:
    return FakeAccountService()


@pytest.fixture
def remote_accounts(account_service: FakeAccountService) -> RemoteAccounts:
    transport = httpx.MockTransport(account_service)
    return RemoteAccounts(httpx.AsyncClient(transport=transport, base_url="http://operator"))


@pytest.fixture
def later(
    monkeypatch: pytest.MonkeyPatch, remote_accounts: RemoteAccounts
) -> Callable[[float], None]:
    now = [1000.0]
    monkeypatch.setattr(remote_accounts, "_cache", TTLCache(4, CACHE_SECONDS, timer=lambda: now[0]))

    def wait(seconds: float) -> None:
        now[0] += seconds

    return wait


async def test_answer_about_a_token_is_cached_for_a_limited_time(
    account_service: FakeAccountService,
    remote_accounts: RemoteAccounts,
    later: Callable[[float], None],
) -> None:
    assert await remote_accounts.principal(TOKEN) == Person("anna", Role.SHIFT)
    account_service.holder = TokenHolder()
    later(CACHE_SECONDS - 1)
    assert await remote_accounts.principal(TOKEN) == Person("anna", Role.SHIFT)
    later(1)
    assert await remote_accounts.principal(TOKEN) is None
    assert await remote_accounts.principal(TOKEN) is None, (
        "it is also cached that no person has the token"
    )
    assert account_service.requested_tokens == [TOKEN, TOKEN]


async def test_token_of_another_kind_causes_no_request(
    account_service: FakeAccountService, remote_accounts: RemoteAccounts
) -> None:
    assert await remote_accounts.principal("eyJhbGciOiJFZDI1NTE5In0.e30.x") is None
    assert account_service.requested_tokens == []


async def test_unavailable_account_service_raises_not_available_and_is_not_cached(
    account_service: FakeAccountService, remote_accounts: RemoteAccounts
) -> None:
    account_service.status = 503
    with pytest.raises(NotAvailable, match="cannot identify the owner of the token"):
        await remote_accounts.principal(TOKEN)
    account_service.status = 200
    assert await remote_accounts.principal(TOKEN) == Person("anna", Role.SHIFT)


async def test_too_long_token_causes_no_request(
    remote_accounts: RemoteAccounts, account_service: FakeAccountService
) -> None:
    assert await remote_accounts.principal("sluice_" + "x" * 5000) is None
    assert account_service.requested_tokens == []
