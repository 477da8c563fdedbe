"""Commands sign in with a browser (RFC 8628); the operator service keeps their requests."""

import asyncio
from dataclasses import dataclass

import asyncpg
import httpx
import pytest

from sluice.contracts.access.access import Role
from sluice.contracts.access.device_login import DeviceLogin, DeviceQuestion, NewDeviceLogin
from sluice.contracts.access.people import AccountChange, Token
from sluice.contracts.common.problems import Forbidden, NotFound, ServiceError
from sluice.servicekit.access.principal import Person
from tests.integration.operator.conftest import Operator
from tests.integration.operator.forms import read_token
from tests.integration.operator.identity.accounts import (
    OTHER,
    OWN_TOKEN,
    ROOT,
    add_account,
    execute,
    find_holder,
    make_person_client,
)
from tests.integration.operator.identity.user_commands import User
from tests.waiting import eventually
from wfms.operator.identity.usecases.device_logins.begin_device_login import ADDRESS_LIMIT
from wfms.operator.identity.usecases.device_logins.get_pending_device_login import WRONG_CODE_LIMIT

ANNA = Person("anna", Role.SHIFT)


@dataclass(frozen=True)
class Browser:
    """The browser of a person who is signed in."""

    http: httpx.AsyncClient

    async def decide(self, code: str, does: str, role: Role = Role.SHIFT) -> httpx.Response:
        page = await self.http.get("/device", params={"code": code})
        form = {"csrf_token": read_token(page), "code": code, "does": does, "role": role}
        return await self.http.post("/device", data=form)


def make_browser(operator: Operator, person: Person) -> Browser:
    return Browser(operator.links.http_of(person, "wfms.operator"))


async def begin_login(operator: Operator, label: str = "sluice login, ws7") -> DeviceLogin:
    return await operator.client.begin_device_login(NewDeviceLogin(label=label))


async def answer(operator: Operator, login: DeviceLogin) -> tuple[Token, str] | None:
    question = DeviceQuestion(device_code=login.device_code)
    grant = (await operator.client.get_device_login(question)).given
    return None if grant is None else (grant.token, grant.secret.get_secret_value())


async def test_allowed_command_gets_a_token_of_the_person_once(operator: Operator) -> None:
    await add_account(operator, "anna", Role.SHIFT)
    login = await begin_login(operator)
    assert await answer(operator, login) is None
    page = await make_browser(operator, ANNA).http.get(login.verification_uri_complete)
    assert "sluice login, ws7" in page.text
    assert login.user_code in page.text
    assert login.device_code.get_secret_value() not in page.text

    done = await make_browser(operator, ANNA).decide(login.user_code, "allow", Role.SUBMITTER)
    assert (done.status_code, done.headers["location"]) == (303, "/account")
    credentials = await answer(operator, login)
    assert credentials is not None
    token, secret = credentials
    assert (token.person, token.role, token.label) == ("anna", Role.SUBMITTER, "sluice login, ws7")
    assert await find_holder(operator, secret) == Person("anna", Role.SUBMITTER)
    with pytest.raises(NotFound, match="no command waits with this code"):
        await answer(operator, login)


async def test_refused_login_gets_no_token_and_cannot_be_allowed_later(
    operator: Operator,
) -> None:
    login = await begin_login(operator)
    await make_browser(operator, ANNA).decide(login.user_code, "refuse")
    with pytest.raises(Forbidden, match="was refused in the browser"):
        await answer(operator, login)
    form = {"code": login.user_code, "does": "allow", "role": Role.SHIFT}
    bert = make_browser(operator, Person("bert", Role.SHIFT))
    form["csrf_token"] = read_token(await bert.http.get("/account"))
    assert (await bert.http.post("/device", data=form)).status_code == NotFound.status
    with pytest.raises(Forbidden, match="was refused in the browser"):
        await answer(operator, login)


async def test_code_is_accepted_as_people_type_it(operator: Operator) -> None:
    login = await begin_login(operator)
    one = make_browser(operator, ANNA)
    for typed in (login.user_code.lower(), login.user_code.replace("-", " ")):
        page = await one.http.get("/device", params={"code": typed})
        assert login.user_code in page.text
    for typed in ("BCDF-GHJK", "no code", "\0", "\ud800".encode("utf-8", "replace").decode()):
        page = await one.http.get("/device", params={"code": typed})
        assert page.status_code == NotFound.status
        assert "no command waits with this code" in page.text
        assert 'name="code"' in page.text, "the page has the form again"


async def test_token_has_no_more_permissions_than_the_person(operator: Operator) -> None:
    await add_account(operator, "anna", Role.SHIFT)
    login = await begin_login(operator)
    refused = await make_browser(operator, ANNA).decide(login.user_code, "allow", Role.ADMIN)
    assert refused.status_code == Forbidden.status
    assert "the token is to be admin, and you are shift" in refused.text
    assert await answer(operator, login) is None

    await make_browser(operator, ANNA).decide(login.user_code, "allow")
    await make_person_client(operator, ROOT).change_account("anna", AccountChange(role=Role.VIEWER))
    credentials = await answer(operator, login)
    assert credentials is not None
    assert credentials[0].role is Role.VIEWER, (
        "the role is that of the person when the command asks"
    )


async def test_unknown_role_is_refused_and_the_command_keeps_waiting(
    operator: Operator,
) -> None:
    login = await begin_login(operator)
    form = {"code": login.user_code, "does": "allow", "role": "owner"}
    one = make_browser(operator, ANNA)
    form["csrf_token"] = read_token(await one.http.get(login.verification_uri_complete))
    refused = await one.http.post("/device", data=form)
    assert (refused.status_code, "&#39;owner&#39; is not a role: choose" in refused.text) == (
        422,
        True,
    )
    assert await answer(operator, login) is None


@pytest.mark.parametrize("change", [AccountChange(disabled=True), AccountChange(password=OTHER)])
async def test_disabling_a_person_or_changing_the_password_ends_pending_logins(
    operator: Operator, change: AccountChange
) -> None:
    await add_account(operator, "anna", Role.SHIFT)
    login = await begin_login(operator)
    await make_browser(operator, ANNA).decide(login.user_code, "allow")
    await make_person_client(operator, ROOT).change_account("anna", change)
    with pytest.raises(NotFound):
        await answer(operator, login)


async def test_disabled_person_cannot_allow_a_login(operator: Operator) -> None:
    await add_account(operator, "anna", Role.SHIFT)
    login = await begin_login(operator)
    await make_person_client(operator, ROOT).change_account("anna", AccountChange(disabled=True))
    await make_browser(operator, ANNA).decide(login.user_code, "allow")
    with pytest.raises(Forbidden):
        await answer(operator, login)


async def test_code_expires_and_is_deleted(operator: Operator) -> None:
    old, allowed = await begin_login(operator), await begin_login(operator)
    await make_browser(operator, ANNA).decide(allowed.user_code, "allow")
    await execute(operator, "UPDATE device_logins SET expires_at = now() - interval '1 s'")
    page = await make_browser(operator, ANNA).http.get(old.verification_uri_complete)
    assert page.status_code == NotFound.status
    for login in (old, allowed):
        with pytest.raises(NotFound):
            await answer(operator, login)
    await begin_login(operator)
    assert await _read_column(operator.database_url, "SELECT count(*) FROM device_logins") == [1]


async def test_token_is_given_to_only_one_of_concurrent_requests(operator: Operator) -> None:
    login = await begin_login(operator)
    await make_browser(operator, ANNA).decide(login.user_code, "allow")
    answers = await asyncio.gather(
        *(answer(operator, login) for _ in range(5)), return_exceptions=True
    )
    assert sum(isinstance(each, tuple) for each in answers) == 1
    assert sum(isinstance(each, NotFound) for each in answers) == 4


async def test_guesses_and_new_logins_are_rate_limited(operator: Operator) -> None:
    login, one = await begin_login(operator), make_browser(operator, ANNA)
    for _ in range(WRONG_CODE_LIMIT.amount):
        page = await one.http.get("/device", params={"code": "BCDF-GHJK"})
        assert page.status_code == NotFound.status
    page = await one.http.get("/device", params={"code": "BCDF-GHJK"})
    assert page.status_code == 429
    assert "too many codes" in page.text
    right = await make_browser(operator, ANNA).http.get(login.verification_uri_complete)
    assert right.status_code == 429, "a person who guessed too often does not learn a code"
    other = await make_browser(operator, Person("bert", Role.VIEWER)).http.get(
        login.verification_uri_complete
    )
    assert other.status_code == 200, "wrong guesses do not block other people"

    for _ in range(ADDRESS_LIMIT.amount - 1):
        await begin_login(operator)
    with pytest.raises(ServiceError, match="too many codes"):
        await begin_login(operator)


async def test_device_code_is_not_stored_in_clear_and_the_login_is_audited(
    operator: Operator,
) -> None:
    login = await begin_login(operator)
    await make_browser(operator, ANNA).decide(login.user_code, "allow")
    rows = await _read_column(
        operator.database_url, "SELECT device_logins::text FROM device_logins"
    )
    assert login.device_code.get_secret_value() not in str(rows)
    await answer(operator, login)
    events = await _read_column(
        operator.database_url,
        "SELECT who || ' ' || action FROM audit WHERE kind IN ('begun', 'told')",
    )
    assert events == ["anna POST /device", "anna lets a command in by a browser"]


async def test_command_signs_in_with_a_browser(admin: User, anna: User, database_url: str) -> None:
    waits = asyncio.create_task(anna("login"))
    code = await _decide_next_login(admin, database_url, "allow")
    output = await waits
    assert f"open {anna.url}/device?code={code[:4]}-{code[4:]} in a browser" in output
    assert f"you are the administrator, role submitter, at {anna.url}" in output
    assert await anna("whoami") == "the administrator, role submitter\n"


async def test_refused_command_says_that_it_was_refused(
    admin: User, anna: User, database_url: str
) -> None:
    waits = asyncio.create_task(anna("login", code=1))
    await _decide_next_login(admin, database_url, "refuse")
    assert "was refused in the browser" in await waits
    assert not anna.config_folder.exists()


async def _decide_next_login(admin: User, database_url: str, does: str) -> str:
    """Wait for a login, decide on it and return its code."""
    codes: list[object] = []

    async def waits() -> bool:
        codes[:] = await _read_column(database_url, "SELECT user_code FROM device_logins")
        return bool(codes)

    await eventually(waits, what="a pending login")
    [code] = map(str, codes)
    async with httpx.AsyncClient(base_url=admin.url) as http:
        await http.post("/sign-in", data={"token": OWN_TOKEN})
        await Browser(http).decide(code, does, Role.SUBMITTER)
    return code


async def _read_column(database_url: str, statement: str) -> list[object]:
    """Return the first column of the result."""
    connection = await asyncpg.connect(database_url)
    try:
        return [row[0] for row in await connection.fetch(statement)]
    finally:
        await connection.close()


async def test_form_token_of_one_person_is_refused_for_another(operator: Operator) -> None:
    """One browser has both sessions, one after the other."""
    login = await begin_login(operator)
    anna, bert = make_browser(operator, ANNA), make_browser(operator, Person("bert", Role.SHIFT))
    form = {"csrf_token": read_token(await anna.http.get("/account")), "code": login.user_code}
    bert.http.cookies = anna.http.cookies
    answer = await bert.http.post("/device", data=form | {"does": "allow", "role": Role.SHIFT})
    assert answer.status_code == 403, answer.text
    assert "belongs to another session" in answer.text
