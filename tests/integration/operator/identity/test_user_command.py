"""`sluice user`, `sluice token` and `sluice login` with a real operator service and accounts."""

import json
import stat
from dataclasses import replace
from uuid import UUID

import pytest

from sluice.network.credentials import keep_token
from tests.integration.operator.identity.accounts import OTHER, OWN_TOKEN, PASSWORD
from tests.integration.operator.identity.user_commands import User


async def test_administrator_adds_changes_and_lists_accounts(admin: User) -> None:
    assert await admin("whoami") == "the administrator, role admin\n"
    assert await admin("user", "list") == "no accounts\n"
    output = await admin("user", "add", "anna", "--role", "shift", answered=f"{PASSWORD}\n")
    assert output == "anna is shift\n"
    assert await admin("user", "add", "robot", "--no-password") == "robot is viewer\n"
    assert "anna is submitter" in await admin("user", "role", "anna", "submitter")
    assert "robot is disabled" in await admin("user", "disable", "robot")
    lines = (await admin("user", "list")).splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [
        ["anna", "submitter", "yes"],
        ["robot", "viewer", "no"],
    ]
    assert "may sign in again" in await admin("user", "enable", "robot")
    listed = json.loads(await admin("user", "list", "--json"))
    assert [account["disabled_at"] for account in listed] == [None, None]


async def test_person_logs_in_and_out(admin: User, anna: User) -> None:
    await admin("user", "add", "anna", "--role", "shift", answered=f"{PASSWORD}\n")
    output = await anna("chain", "list", code=1)
    assert "the request does not say who sends it" in output
    assert "`sluice login`" in output
    refused = await anna("login", "anna", answered=f"{OTHER}\n", code=1)
    assert "the name or the password is wrong" in refused
    assert not anna.config_folder.exists()

    assert await anna("login", "anna", answered=f"{PASSWORD}\n") == (
        f"you are anna, role shift, at {anna.url}\n"
    )
    [file] = (anna.config_folder / "sluice/logins").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    token = file.read_text()
    assert await anna("token") == f"{token}\n"
    await anna("chain", "list")
    assert "anna may not" not in await anna("token", "list")
    refused = await anna("user", "list", code=1)
    assert "anna (shift) may not do this: it requires the role admin" in refused

    assert "no longer signed in" in await anna("logout", "--everywhere")
    assert not file.exists()
    assert "you were not signed in" in await anna("logout")
    stolen = replace(anna, token=token)
    (anna.config_folder / "sluice/logins" / file.name).write_text(token)
    assert "this service does not know the token" in await anna("whoami", code=1)
    assert "you are anna" in await anna("login", "anna", answered=f"{PASSWORD}\n")
    (anna.config_folder / "sluice/logins" / file.name).write_text(token)
    assert "no longer signed in" in await anna("logout"), "the revoked token is removed, too"
    assert not file.exists()
    assert "this service does not know the token" in await stolen("whoami", code=1)


async def test_logout_keeps_the_token_of_a_local_system(
    admin: User, anna: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    await admin("user", "add", "anna", "--role", "shift", answered=f"{PASSWORD}\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(anna.config_folder))
    keep_token(anna.url, OWN_TOKEN)
    assert "you were not signed in" in await anna("logout")
    assert await anna("whoami") == "the administrator, role admin\n"

    await anna("login", "anna", answered=f"{PASSWORD}\n")
    assert await anna("whoami") == "anna, role shift\n"
    assert "no longer signed in" in await anna("logout")
    assert await anna("whoami") == "the administrator, role admin\n"


async def test_login_accepts_a_token_made_elsewhere(admin: User, anna: User) -> None:
    await admin("user", "add", "robot", "--no-password")
    creation = await admin("token", "create", "nightly", "--for", "robot", "--days", "3")
    secret = creation.splitlines()[0]
    assert "for robot (viewer), until" in creation
    output = await anna("login", "--with-token", answered=f"{secret}\n")
    assert output == f"you are robot, role viewer, at {anna.url}\n"
    assert "may not do this" in await anna("user", "list", code=1)
    refused = await anna("login", "--with-token", answered="sluice_made-up\n", code=1)
    assert "this service does not know the token" in refused
    assert await anna("whoami") == "robot, role viewer\n", "the previous token is kept"


async def test_tokens_are_created_listed_and_revoked(admin: User, anna: User) -> None:
    await admin("user", "add", "anna", "--role", "shift", answered=f"{PASSWORD}\n")
    await anna("login", "anna", answered=f"{PASSWORD}\n")
    token = json.loads(await anna("token", "create", "one", "--role", "viewer", "--json"))
    assert token["token"]["role"] == "viewer"
    two = json.loads(await anna("token", "create", "two", "--json"))["token"]
    assert [line.split()[2] for line in (await anna("token", "list")).splitlines()[1:3]] == [
        "two",
        "one",
    ]
    assert "you are shift" in await anna("token", "create", "x", "--role", "admin", code=1)
    assert "there is no token 'three'" in await anna("token", "revoke", "three", code=1)
    assert await anna("token", "revoke", "one", "--yes") == "one of anna is revoked\n"
    assert "two of anna" in await anna("token", "revoke", str(UUID(two["id"])), "--yes")
    await anna("token", "create", "twice")
    await anna("token", "create", "twice")
    assert "2 tokens match 'twice': give the id of one" in await anna(
        "token", "revoke", "twice", code=1
    )
    assert "revoked" not in await anna("token", "list")
    assert (await anna("token", "list", "--ended")).count("revoked") == 2
    [first, *_] = json.loads(await admin("token", "list", "--for", "anna", "--json"))
    output = await admin("token", "revoke", first["id"], "--for", "anna", "--yes")
    assert output == "twice of anna is revoked\n"


async def test_person_and_administrator_change_a_password(admin: User, anna: User) -> None:
    await admin("user", "add", "anna", answered=f"{PASSWORD}\n")
    await anna("login", "anna", answered=f"{PASSWORD}\n")
    output = await anna("user", "password", answered=f"{OTHER}\n{OTHER}\n", code=1)
    assert "the name or the password is wrong" in output
    output = await anna("user", "password", answered=f"{PASSWORD}\n{OTHER}\n")
    assert output == "your password was changed\n"
    output = await admin("user", "password", "anna", answered=f"{PASSWORD}\n")
    assert output == "the password of anna was changed\n"
    short = await admin("user", "password", "anna", answered="short\n", code=1)
    assert "12 to 512 characters, and this one has 5" in short
    assert "short'" not in short
    assert "no new password was given" in await admin("user", "password", "anna", code=1)
