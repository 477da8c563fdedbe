"""Accounts, passwords and roles of people in the tables of the operator service."""

from itertools import product

import asyncpg
import pytest
from pydantic import SecretStr

from sluice.contracts.access.access import Role
from sluice.contracts.access.people import (
    AccountChange,
    NewAccount,
    NewPassword,
    NewToken,
    SignInWithPassword,
)
from sluice.contracts.common.problems import (
    Conflict,
    Forbidden,
    NotFound,
    ServiceError,
    Unauthenticated,
)
from sluice.servicekit.access.principal import Person
from tests.integration.operator.conftest import Operator
from tests.integration.operator.identity.accounts import (
    OTHER,
    PASSWORD,
    ROOT,
    add_account,
    create_token,
    find_holder,
    get_people,
    make_person_client,
)
from wfms.operator.identity.usecases.passwords import Passwords
from wfms.operator.identity.usecases.sign_in import NAME_LIMIT


async def sign_in_with_password(operator: Operator, name: str, password: str) -> Person | None:
    """Sign in and return the person of the session, or raise ``ServiceError``."""
    people = get_people(operator)
    return await people.in_session(await people.session_with_password(name, password))


async def test_accounts_are_created_changed_and_listed(operator: Operator) -> None:
    admin = make_person_client(operator, ROOT)
    await add_account(operator, "bert", password=None)
    anna = await add_account(operator, "anna", Role.VIEWER)
    assert (anna.role, anna.has_password, anna.disabled_at) == (Role.VIEWER, True, None)
    with pytest.raises(Conflict, match="an account named 'anna' already exists"):
        await add_account(operator, "anna", Role.ADMIN)

    changed = await admin.change_account("anna", AccountChange(role=Role.SHIFT, disabled=True))
    assert changed.role is Role.SHIFT
    assert changed.disabled_at is not None
    again = await admin.change_account("anna", AccountChange(disabled=True))
    assert again.disabled_at == changed.disabled_at, "a repeated request changes nothing"
    assert (await admin.change_account("anna", AccountChange(disabled=False))).disabled_at is None
    with pytest.raises(NotFound, match="no account is named 'carla'"):
        await admin.change_account("carla", AccountChange(role=Role.ADMIN))

    with pytest.raises(Conflict, match="you cannot remove your own role"):
        await make_person_client(operator, Person("anna", Role.ADMIN)).change_account(
            "anna", AccountChange(role=Role.VIEWER)
        )
    listed = (await admin.list_accounts()).accounts
    assert [(each.name, each.role, each.has_password) for each in listed] == [
        ("anna", Role.SHIFT, True),
        ("bert", Role.SUBMITTER, False),
    ]


@pytest.mark.parametrize("role", [Role.VIEWER, Role.SUBMITTER, Role.SHIFT])
async def test_only_an_administrator_manages_accounts(operator: Operator, role: Role) -> None:
    anna = make_person_client(operator, Person("anna", role))
    for ask in (
        anna.list_accounts(),
        anna.add_account(NewAccount(name="x", role=Role.VIEWER)),
        anna.change_account("anna", AccountChange(role=Role.ADMIN)),
        anna.list_tokens(all=True),
        anna.list_tokens(person="bert"),
        anna.create_token(NewToken(label="x", person="bert")),
    ):
        with pytest.raises(Forbidden):
            await ask


async def test_password_signs_in_and_is_stored_only_as_a_hash(operator: Operator) -> None:
    await add_account(operator, "anna")
    nobody = operator.client
    who = SignInWithPassword(name=" Anna ", password=SecretStr(PASSWORD))
    token = await nobody.sign_in(who)
    assert (token.token.person, token.token.role) == ("anna", Role.SUBMITTER)
    assert await find_holder(operator, token.secret.get_secret_value()) == Person(
        "anna", Role.SUBMITTER
    )

    connection = await asyncpg.connect(operator.database_url)
    rows = str([tuple(row) for row in await connection.fetch("SELECT * FROM people")])
    rows += str([tuple(row) for row in await connection.fetch("SELECT * FROM person_tokens")])
    await connection.close()
    assert "$argon2id$" in rows
    assert PASSWORD not in rows
    assert token.secret.get_secret_value() not in rows


async def test_wrong_passwords_are_answered_alike_for_all_names(operator: Operator) -> None:
    await add_account(operator, "anna")
    await add_account(operator, "bert", password=None)
    await add_account(operator, "carla")
    await make_person_client(operator, ROOT).change_account("carla", AccountChange(disabled=True))
    messages = set()
    for name, password in (
        ("anna", OTHER),
        ("bert", PASSWORD),
        ("bert", ""),
        ("carla", PASSWORD),
        ("nobody", PASSWORD),
    ):
        who = SignInWithPassword(name=name, password=SecretStr(password))
        with pytest.raises(Unauthenticated) as refused:
            await operator.client.sign_in(who)
        messages.add(str(refused.value))
    assert messages == {"the name or the password is wrong"}


async def test_malformed_name_or_password_is_answered_like_a_wrong_one(
    operator: Operator, subtests: pytest.Subtests
) -> None:
    await add_account(operator, "anna")
    names = ["anna", "a\0b", "\ud800", "a b", "", "x" * 100, "anna\n.", "'; --"]
    for name, password in product(names, ["a\0b", "\ud800", ""]):
        with (
            subtests.test(name=name, password=password),
            pytest.raises(Unauthenticated, match="the name or the password is wrong"),
        ):
            await sign_in_with_password(operator, name, password)


async def test_wrong_passwords_are_rate_limited_per_name(operator: Operator) -> None:
    await add_account(operator, "anna")
    await add_account(operator, "bert")

    async def guess(name: str, password: str) -> int:
        who = SignInWithPassword(name=name, password=SecretStr(password))
        try:
            await operator.client.sign_in(who)
        except ServiceError as error:
            return error.status
        return 201

    tries = NAME_LIMIT.amount + 5
    statuses = [await guess("anna", f"{OTHER} {n}") for n in range(tries)]
    assert statuses == [401] * NAME_LIMIT.amount + [429] * 5
    assert await guess("ANNA", PASSWORD) == 429, "the right password is refused, too"
    assert await guess("bert", PASSWORD) == 201, "other people may sign in"


async def test_correct_password_resets_the_count_of_wrong_ones(operator: Operator) -> None:
    await add_account(operator, "anna")
    for _ in range(3):
        for _ in range(NAME_LIMIT.amount - 1):
            with pytest.raises(Unauthenticated):
                await sign_in_with_password(operator, "anna", OTHER)
        assert await sign_in_with_password(operator, "anna", PASSWORD) == Person(
            "anna", Role.SUBMITTER
        )


async def test_person_changes_the_password_with_the_old_password(operator: Operator) -> None:
    await add_account(operator, "anna")
    people, person = get_people(operator), Person("anna", Role.SUBMITTER)
    anna = make_person_client(operator, person)
    session = await people.begin_session(person)
    _, token = await create_token(operator, person)
    with pytest.raises(Unauthenticated, match="the name or the password is wrong"):
        await anna.change_password(NewPassword(old=SecretStr(OTHER), new=SecretStr(OTHER)))
    assert await people.in_session(session) == person

    await anna.change_password(NewPassword(old=SecretStr(PASSWORD), new=SecretStr(OTHER)))

    assert await people.in_session(session) is None
    assert await find_holder(operator, token) == person, "tokens stay valid"
    assert await sign_in_with_password(operator, "anna", OTHER) == person
    with pytest.raises(Unauthenticated):
        await sign_in_with_password(operator, "anna", PASSWORD)


@pytest.mark.parametrize(
    ("new", "sentence"),
    [
        ({"name": "Anna B"}, "the name of an account has small letters"),
        ({"name": "anna", "password": "short"}, "12 to 512 characters, and this one has 5"),
        ({"name": "anna", "password": "x" * 513}, "12 to 512 characters, and this one has 513"),
        ({"name": "anna", "role": "king"}, "viewer"),
    ],
)
async def test_invalid_account_is_refused_without_showing_the_password(
    operator: Operator, new: dict[str, str], sentence: str
) -> None:
    answer = await operator.http.post("/api/v1/people", json=new)
    assert answer.status_code == 422
    assert sentence in answer.text
    assert new.get("password", "?") not in answer.text


async def test_empty_change_of_an_account_is_refused(operator: Operator) -> None:
    await add_account(operator, "anna")
    answer = await operator.http.patch("/api/v1/people/anna", json={})
    assert answer.status_code == 422
    assert "nothing was changed" in answer.text


async def test_disabled_person_cannot_use_tokens_or_sessions(operator: Operator) -> None:
    await add_account(operator, "anna")
    anna, people, admin = (
        Person("anna", Role.SUBMITTER),
        get_people(operator),
        make_person_client(operator, ROOT),
    )
    _, token = await create_token(operator, anna)
    session = await people.begin_session(anna)

    await admin.change_account("anna", AccountChange(disabled=True))
    assert await find_holder(operator, token) is None
    assert await people.in_session(session) is None
    with pytest.raises(NotFound):
        await create_token(operator, ROOT, person="anna")

    await admin.change_account("anna", AccountChange(disabled=False))
    assert await find_holder(operator, token) == anna
    assert await people.in_session(session) is None, "sessions stay ended"


@pytest.mark.parametrize(
    "change", [AccountChange(password=SecretStr(OTHER)), AccountChange(disabled=True)]
)
async def test_password_change_during_sign_in_prevents_the_sign_in(
    operator: Operator, change: AccountChange, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check of a password takes a while, in which the password may change."""
    await add_account(operator, "anna")
    admin, looked_at = make_person_client(operator, ROOT), Passwords.is_right

    async def is_right(passwords: Passwords, password: str, stored_hash: str | None) -> bool:
        right = await looked_at(passwords, password, stored_hash)
        await admin.change_account("anna", change)
        return right

    monkeypatch.setattr(Passwords, "is_right", is_right)
    with pytest.raises(Unauthenticated, match="the name or the password is wrong"):
        await get_people(operator).session_with_password("anna", PASSWORD)
    who = SignInWithPassword(name="anna", password=SecretStr(PASSWORD))
    with pytest.raises(Unauthenticated, match="the name or the password is wrong"):
        await operator.client.sign_in(who)
