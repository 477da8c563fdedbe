"""Tests that password guesses and repeated sign-ins are limited without effects on other people."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest
from pydantic import SecretStr

from sluice.clients.operator import OperatorClient
from sluice.contracts.access.access import Role
from sluice.contracts.access.people import NewAccount
from sluice.contracts.common.problems import ServiceError, Unauthenticated
from sluice.servicekit.access.people import People
from sluice.servicekit.access.principal import Person
from sluice.servicekit.audit.request import bind_client_address
from tests.integration.operator.conftest import Operator, run_operator
from wfms.operator.identity.db.person_tokens import MAX_SESSIONS
from wfms.operator.identity.domain.errors import TooManySignInAttempts, TooManySignIns
from wfms.operator.identity.usecases.known_people import SESSION_LIMITS
from wfms.operator.identity.usecases.passwords import Passwords
from wfms.operator.identity.usecases.sign_in import (
    ADDRESS_LIMIT,
    MAX_CONCURRENT_OF_ADDRESS,
    NAME_LIMIT,
    NAME_LIMIT_ANYWHERE,
    address_block,
)

PASSWORD, WRONG_PASSWORD = "correct horse battery", "staple of a battery"
ATTACKER, OTHER_ADDRESS = "192.0.2.1", "198.51.100.7"


@pytest.fixture
async def people(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[People]:
    async with run_operator(database_url) as operator:
        operator.links.apps["wfms.operator"] = operator.service.app
        await _create_account(operator, "anna")
        await _create_account(operator, "bert")
        assert operator.service.account_authentication is not None
        await _replace_password_hashing(monkeypatch)
        yield operator.service.account_authentication.people


async def _create_account(operator: Operator, name: str) -> None:
    root = operator.links.http_of(Person("root", Role.ADMIN), "wfms.operator")
    new = NewAccount(name=name, role=Role.VIEWER, password=SecretStr(PASSWORD))
    await OperatorClient(root).add_account(new)


async def _replace_password_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace password hashing, which would take too long for hundreds of passwords."""

    async def is_right(self: Passwords, password: str, stored_hash: str | None) -> bool:
        return stored_hash is not None and password == PASSWORD

    monkeypatch.setattr(Passwords, "is_right", is_right)


async def _guess_passwords(people: People, names: list[str], *, address: str = ATTACKER) -> int:
    """Return how many guesses were checked and not refused as too many."""
    checked_guesses = 0
    with bind_client_address(address):
        for name in names:
            try:
                await people.session_with_password(name, WRONG_PASSWORD)
            except Unauthenticated:
                checked_guesses += 1
            except TooManySignInAttempts:
                pass
    return checked_guesses


async def _can_sign_in(people: People, name: str, address: str) -> bool:
    with bind_client_address(address):
        try:
            await people.session_with_password(name, PASSWORD)
        except TooManySignInAttempts:
            return False
    return True


async def test_guesses_at_unknown_names_block_only_the_address(
    people: People,
) -> None:
    assert await _can_sign_in(people, "bert", ATTACKER), "bert signs in from the same address"
    names = [f"nobody-{number}" for number in range(ADDRESS_LIMIT.amount + 50)]

    assert await _guess_passwords(people, names) == ADDRESS_LIMIT.amount - 1

    assert await _can_sign_in(people, "anna", OTHER_ADDRESS)
    assert await _can_sign_in(people, "bert", ATTACKER), (
        "bert has signed in from this address before"
    )
    assert not await _can_sign_in(people, "anna", ATTACKER)


async def test_few_guesses_of_an_address_are_checked_at_the_same_time(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await _can_sign_in(people, "bert", ATTACKER), "bert signs in from the same address"
    full, release, checked_guesses = asyncio.Event(), asyncio.Event(), list[str]()

    async def is_right(self: Passwords, password: str, stored_hash: str | None) -> bool:
        checked_guesses.append(password)
        if len(checked_guesses) == MAX_CONCURRENT_OF_ADDRESS:
            full.set()
        await release.wait()
        return stored_hash is not None and password == PASSWORD

    monkeypatch.setattr(Passwords, "is_right", is_right)
    guesses = [
        asyncio.create_task(_guess_passwords(people, [f"nobody-{number}"]))
        for number in range(MAX_CONCURRENT_OF_ADDRESS)
    ]
    await full.wait()
    async with asyncio.timeout(30):
        assert await _guess_passwords(people, ["anna"] * (NAME_LIMIT.amount + 1)) == 0
    allowed = asyncio.gather(
        _can_sign_in(people, "bert", ATTACKER),
        _guess_passwords(people, ["x"], address=OTHER_ADDRESS),
    )
    release.set()
    assert list(await allowed) == [True, 1]
    assert await asyncio.gather(*guesses) == [1] * MAX_CONCURRENT_OF_ADDRESS
    assert await _can_sign_in(people, "anna", ATTACKER), "refused guesses count towards no limit"


async def test_guesses_at_a_name_block_the_name_only_at_the_address(
    people: People,
) -> None:
    assert await _guess_passwords(people, ["anna"] * (NAME_LIMIT.amount + 5)) == NAME_LIMIT.amount
    assert not await _can_sign_in(people, "anna", ATTACKER)
    assert await _can_sign_in(people, "anna", OTHER_ADDRESS)


async def test_guesses_at_a_name_from_many_addresses_share_a_limit(people: People) -> None:
    checked_guesses = 0
    for number in range(20):
        checked_guesses += await _guess_passwords(
            people, ["anna"] * 20, address=f"203.0.113.{number}"
        )
    assert checked_guesses == NAME_LIMIT_ANYWHERE.amount


async def test_sign_ins_and_sessions_of_a_person_are_limited(
    people: People, database_url: str
) -> None:
    anna, repetitions = Person("anna", Role.VIEWER), SESSION_LIMITS[0].amount
    for _ in range(repetitions):
        await people.begin_session(anna)

    with pytest.raises(TooManySignIns, match="you have signed in too often: wait"):
        await people.begin_session(anna)
    with pytest.raises(ServiceError, match="you have signed in too often"):
        await people.session_with_password("anna", PASSWORD)

    await people.begin_session(Person("bert", Role.VIEWER))
    connection = await asyncpg.connect(database_url)
    session_count = await connection.fetchval(
        "SELECT count(*) FROM person_sessions WHERE person = 'anna'"
    )
    audit_count = await connection.fetchval("SELECT count(*) FROM audit WHERE who = 'anna'")
    await connection.close()
    assert (session_count, audit_count) == (MAX_SESSIONS, repetitions)


@pytest.mark.parametrize(
    ("address", "block"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3::1", "2001:db8:1:2::/64"),
        ("", ""),
    ],
)
def test_addresses_of_an_ipv6_network_count_together(address: str, block: str) -> None:
    assert address_block(address) == block
