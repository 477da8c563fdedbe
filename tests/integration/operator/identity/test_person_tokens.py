"""Tokens and browser sessions of people."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import asyncpg
import pytest
from pydantic import SecretStr

from sluice.contracts.access.access import Role
from sluice.contracts.access.people import (
    AccountChange,
    TokenHolder,
    TokenQuestion,
)
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import (
    Conflict,
    Forbidden,
    NotFound,
)
from sluice.servicekit.access.people import TOKEN_HOLDERS_PATH
from sluice.servicekit.access.principal import Person, ServiceCaller
from tests.integration.operator.conftest import Operator
from tests.integration.operator.identity.accounts import (
    OWN_TOKEN,
    ROOT,
    add_account,
    create_token,
    execute,
    find_holder,
    get_people,
    make_person_client,
)
from wfms.operator.identity.usecases.tokens.token_creation import MAX_TOKENS
from wfms.operator.wiring import ADMINISTRATOR


async def test_token_has_at_most_the_role_of_its_person(
    operator: Operator,
) -> None:
    await add_account(operator, "anna", Role.SHIFT)
    anna = Person("anna", Role.SHIFT)
    _, whole = await create_token(operator, anna)
    _, least = await create_token(operator, anna, role=Role.VIEWER)
    assert await find_holder(operator, whole) == anna
    assert await find_holder(operator, least) == Person("anna", Role.VIEWER)
    with pytest.raises(Forbidden, match="the token is to be admin, and you are shift"):
        await create_token(operator, anna, role=Role.ADMIN)
    with pytest.raises(Forbidden, match="the token is to be shift, and you are viewer"):
        await create_token(operator, Person("anna", Role.VIEWER), role=Role.SHIFT)

    await make_person_client(operator, ROOT).change_account(
        "anna", AccountChange(role=Role.SUBMITTER)
    )
    assert await find_holder(operator, whole) == Person("anna", Role.SUBMITTER)
    assert await find_holder(operator, least) == Person("anna", Role.VIEWER)


async def test_tokens_are_listed_revoked_and_expire(operator: Operator) -> None:
    anna, bert = Person("anna", Role.SUBMITTER), Person("bert", Role.SUBMITTER)
    first, secret = await create_token(operator, anna, label="first", days=1)
    second, another = await create_token(operator, anna, label="second")
    third, _ = await create_token(operator, bert, label="third")
    mine = make_person_client(operator, anna)
    assert [token.label for token in (await mine.list_tokens()).tokens] == ["second", "first"]
    everybodys = (await make_person_client(operator, ROOT).list_tokens(all=True)).tokens
    assert [token.id for token in everybodys] == [third, second, first]
    of_bert = (await make_person_client(operator, ROOT).list_tokens(person="bert")).tokens
    assert [token.id for token in of_bert] == [third]

    for foreign in (third, uuid4()):
        with pytest.raises(NotFound, match="you have no token"):
            await mine.revoke_token(foreign)
    revoked = await mine.revoke_token(first)
    assert (await mine.revoke_token(first)).revoked_at == revoked.revoked_at
    assert await find_holder(operator, secret) is None
    await execute(operator, "UPDATE person_tokens SET expires_at = now()")
    assert await find_holder(operator, another) is None
    assert (await mine.list_tokens()).tokens == []
    assert [token.id for token in (await mine.list_tokens(ended=True)).tokens] == [second, first]


async def test_anybody_who_has_a_token_may_revoke_it(operator: Operator) -> None:
    _, token = await create_token(operator, Person("anna", Role.VIEWER))
    for sent in ("sluice_made-up", token, token):
        await operator.client.revoke_found_token(TokenQuestion(token=SecretStr(sent)))
    assert await find_holder(operator, token) is None


async def test_token_shows_the_minute_of_its_last_use(operator: Operator) -> None:
    anna = Person("anna", Role.VIEWER)
    _, token = await create_token(operator, anna)

    async def used() -> object:
        return (await make_person_client(operator, anna).list_tokens()).tokens[0].used_at

    assert await used() is None
    await find_holder(operator, token)
    first = await used()
    assert first is not None
    await find_holder(operator, token)
    assert await used() == first
    await execute(operator, "UPDATE person_tokens SET used_at = used_at - interval '2 minutes'")
    await find_holder(operator, token)
    assert await used() not in {first, None}


async def test_admin_token_of_the_system_creates_the_first_account(operator: Operator) -> None:
    own = await find_holder(operator, OWN_TOKEN)
    assert own == Person(ADMINISTRATOR, Role.ADMIN)
    me = await make_person_client(operator, own).get_own_account()
    assert (me.name, me.role, me.account) == (ADMINISTRATOR, Role.ADMIN, None)
    assert await find_holder(operator, OWN_TOKEN + "0") is None
    assert await find_holder(operator, OWN_TOKEN.removeprefix("sluice_")) is None
    await add_account(operator, "anna")
    me = await make_person_client(operator, Person("anna", Role.VIEWER)).get_own_account()
    assert me.account is not None
    assert (me.role, me.account.role) == (Role.VIEWER, Role.SUBMITTER)


async def test_services_ask_for_the_holder_of_a_token(operator: Operator) -> None:
    _, token = await create_token(operator, Person("anna", Role.SHIFT))
    caller = ServiceCaller(CallingService.DMS)
    async with operator.links.http_of(caller, "wfms.operator") as dms:
        for sent, expected in (
            (token, TokenHolder(name="anna", role=Role.SHIFT)),
            (OWN_TOKEN, TokenHolder(name=ADMINISTRATOR, role=Role.ADMIN)),
            ("sluice_nobodys", TokenHolder()),
        ):
            answer = await dms.post(TOKEN_HOLDERS_PATH, json={"token": sent})
            assert TokenHolder.model_validate_json(answer.content) == expected


async def test_session_ends_with_the_token_that_began_it(operator: Operator) -> None:
    anna, people = Person("anna", Role.SHIFT), get_people(operator)
    revoked_id, revoked = await create_token(operator, anna)
    _, ending = await create_token(operator, anna, days=1)
    first, second = [await people.begin_session(anna, token=token) for token in (revoked, ending)]
    connection = await asyncpg.connect(operator.database_url)
    ends = await connection.fetchval("SELECT max(ends_at - begun_at) FROM person_sessions")
    least = await connection.fetchval("SELECT min(ends_at - begun_at) FROM person_sessions")
    await connection.close()
    assert (ends, least <= timedelta(days=1)) == (timedelta(days=7), True)
    assert await people.in_session(first) == await people.in_session(second) == anna

    await make_person_client(operator, anna).revoke_token(revoked_id)

    assert await people.in_session(first) is None
    assert await people.in_session(second) == anna


async def test_number_of_tokens_of_a_person_is_bounded(operator: Operator) -> None:
    anna = Person("anna", Role.VIEWER)
    await execute(
        operator,
        "INSERT INTO person_tokens (person, label, role, digest, expires_at)"
        " SELECT 'anna', 'x', 'viewer', sha256(n::text::bytea), now() + interval '1 day'"
        " FROM generate_series(2, 100) AS n",
    )
    assert MAX_TOKENS == 100
    last, _ = await create_token(operator, anna)
    with pytest.raises(Conflict, match="anna has 100 valid tokens"):
        await create_token(operator, anna)
    await make_person_client(operator, anna).revoke_token(last)
    tried = await asyncio.gather(
        *(create_token(operator, anna) for _ in range(8)), return_exceptions=True
    )
    assert sum(isinstance(each, Conflict) for each in tried) == 7


async def test_token_cannot_revoke_a_token_with_a_higher_role(operator: Operator) -> None:
    large, secret = await create_token(operator, Person("anna", Role.SHIFT))
    with pytest.raises(Forbidden, match="the token is shift, and you are viewer"):
        await make_person_client(operator, Person("anna", Role.VIEWER)).revoke_token(large)
    assert await find_holder(operator, secret) == Person("anna", Role.SHIFT)


async def test_token_for_another_person_has_at_most_the_role_of_the_person(
    operator: Operator,
) -> None:
    await add_account(operator, "bert", Role.VIEWER)
    with pytest.raises(Forbidden, match="the token is to be admin, and bert is viewer"):
        await create_token(operator, ROOT, person="bert", role=Role.ADMIN)
    _, token = await create_token(operator, ROOT, person="bert")
    assert await find_holder(operator, token) == Person("bert", Role.VIEWER)


async def test_session_ends_at_sign_out_or_after_seven_days(operator: Operator) -> None:
    await add_account(operator, "anna", Role.SHIFT)
    people, anna = get_people(operator), Person("anna", Role.VIEWER)
    first, second = [await people.begin_session(anna) for _ in range(2)]
    assert await people.in_session(first) == anna, "the session keeps its smaller role"
    await people.end_session(first)
    assert await people.in_session(first) is None
    assert await people.in_session(second) == anna
    await execute(operator, "UPDATE person_sessions SET ends_at = now()")
    assert await people.in_session(second) is None
    await people.begin_session(anna)
    connection = await asyncpg.connect(operator.database_url)
    [life] = await connection.fetch("SELECT ends_at - begun_at AS life FROM person_sessions")
    await connection.close()
    assert life["life"] == timedelta(days=7)


async def test_sign_out_everywhere_ends_all_sessions_of_the_person(operator: Operator) -> None:
    await add_account(operator, "anna", Role.SHIFT)
    await add_account(operator, "bert", Role.VIEWER)
    people, anna, bert = (
        get_people(operator), Person("anna", Role.SHIFT), Person("bert", Role.VIEWER),
    )  # fmt: skip
    hers = [await people.begin_session(anna) for _ in range(3)]
    his = await people.begin_session(bert)
    _, token = await create_token(operator, anna)
    await make_person_client(operator, anna).end_sessions()
    assert [await people.in_session(each) for each in hers] == [None] * 3
    assert await people.in_session(his) == bert
    assert await find_holder(operator, token) == anna
