"""Whoever guesses passwords, or signs in again and again, costs himself something, and no other."""

from collections.abc import AsyncIterator

import asyncpg
import pytest
from pydantic import SecretStr

from sluice.clients.operator import OperatorClient
from sluice.contracts.access import Role
from sluice.contracts.people import NewAccount
from sluice.contracts.problems import ServiceError, Unauthenticated
from sluice.servicekit.access.people import People
from sluice.servicekit.access.principal import Person
from sluice.servicekit.audit.request import coming_from
from tests.integration.operator.conftest import Operator, operating
from wfms.operator.db.person_tokens import MAX_SESSIONS
from wfms.operator.domain.people_errors import TooManySignIns, TooManyTries
from wfms.operator.usecases.known_people import OF_A_PERSON
from wfms.operator.usecases.passwords import Passwords
from wfms.operator.usecases.sign_in import (
    OF_A_NAME,
    OF_A_NAME_ANYWHERE,
    OF_AN_ADDRESS,
    address_block,
)

PASSWORD, WRONG = "correct horse battery", "staple of a battery"
ATTACKER, ELSEWHERE = "192.0.2.1", "198.51.100.7"


@pytest.fixture
async def people(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[People]:
    async with operating(database_url) as operator:
        operator.links.apps["wfms.operator"] = operator.service.app
        await _account(operator, "anna")
        await _account(operator, "bert")
        assert operator.service.account_authentication is not None
        await _hash_cheaply(monkeypatch)
        yield operator.service.account_authentication.people


async def _account(operator: Operator, name: str) -> None:
    root = operator.links.http_of(Person("root", Role.ADMIN), "wfms.operator")
    new = NewAccount(name=name, role=Role.VIEWER, password=SecretStr(PASSWORD))
    await OperatorClient(root).add_account(new)


async def _hash_cheaply(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of passwords are tried here, and each would take a core for a while."""

    async def is_right(self: Passwords, password: str, kept: str | None) -> bool:
        return kept is not None and password == PASSWORD

    monkeypatch.setattr(Passwords, "is_right", is_right)


async def _guess(people: People, names: list[str], *, address: str = ATTACKER) -> int:
    """Return how many guesses were looked at, and not refused as too many."""
    looked_at = 0
    with coming_from(address):
        for name in names:
            try:
                await people.session_with_password(name, WRONG)
            except Unauthenticated:
                looked_at += 1
            except TooManyTries:
                pass
    return looked_at


async def _signs_in(people: People, name: str, address: str) -> bool:
    with coming_from(address):
        try:
            await people.session_with_password(name, PASSWORD)
        except TooManyTries:
            return False
    return True


async def test_guesses_at_names_that_do_not_exist_keep_nobody_elsewhere_waiting(
    people: People,
) -> None:
    assert await _signs_in(people, "bert", ATTACKER), "as behind the same proxy"
    names = [f"nobody-{number}" for number in range(OF_AN_ADDRESS.amount + 50)]

    assert await _guess(people, names) == OF_AN_ADDRESS.amount - 1

    assert await _signs_in(people, "anna", ELSEWHERE)
    assert await _signs_in(people, "bert", ATTACKER), "who has signed in from there before"
    assert not await _signs_in(people, "anna", ATTACKER)


async def test_guesses_at_a_name_keep_its_owner_waiting_at_that_address_alone(
    people: People,
) -> None:
    assert await _guess(people, ["anna"] * (OF_A_NAME.amount + 5)) == OF_A_NAME.amount
    assert not await _signs_in(people, "anna", ATTACKER)
    assert await _signs_in(people, "anna", ELSEWHERE)


async def test_guesses_at_a_name_from_many_addresses_are_bounded_together(people: People) -> None:
    looked_at = 0
    for number in range(20):
        looked_at += await _guess(people, ["anna"] * 20, address=f"203.0.113.{number}")
    assert looked_at == OF_A_NAME_ANYWHERE.amount


async def test_sign_ins_of_a_person_are_bounded_with_their_rows(
    people: People, database_url: str
) -> None:
    anna, often = Person("anna", Role.VIEWER), OF_A_PERSON[0].amount
    for _ in range(often):
        await people.begin_session(anna)

    with pytest.raises(TooManySignIns, match="you have signed in too often: wait"):
        await people.begin_session(anna)
    with pytest.raises(ServiceError, match="you have signed in too often"):
        await people.session_with_password("anna", PASSWORD)

    await people.begin_session(Person("bert", Role.VIEWER))
    connection = await asyncpg.connect(database_url)
    kept = await connection.fetchval("SELECT count(*) FROM person_sessions WHERE person = 'anna'")
    noted = await connection.fetchval("SELECT count(*) FROM audit WHERE who = 'anna'")
    await connection.close()
    assert (kept, noted) == (MAX_SESSIONS, often)


@pytest.mark.parametrize(
    ("address", "block"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3::1", "2001:db8:1:2::/64"),
        ("", ""),
    ],
)
def test_addresses_of_one_customer_count_together(address: str, block: str) -> None:
    assert address_block(address) == block
