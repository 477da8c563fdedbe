"""Creation and change of the accounts of people."""

import structlog
from pydantic import SecretStr

from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.access.people import (
    Account,
    AccountChange,
    NewAccount,
    NewPassword,
    NewToken,
    NewTokenSecret,
    SignInWithPassword,
)
from sluice.contracts.common.problems import Unprocessable
from sluice.servicekit.access.principal import Person
from sluice.servicekit.audit.request import add_audit_facts
from sluice.servicekit.database import Connection
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db import people
from wfms.operator.identity.db.person_tokens import end_all_sessions
from wfms.operator.identity.domain.errors import OwnAccountChange, PersonExists, PersonUnknown
from wfms.operator.identity.usecases.create_token import create_token_in_transaction

log = structlog.get_logger(__name__)


async def create_account(context: OperatorContext, new: NewAccount, *, by: Person) -> Account:
    """Create an account.

    Raises:
        PersonExists: An account has this name.
    """
    password = await _hash_password(context, new.password)
    async with context.database.transaction() as transaction:
        account = await people.insert_person(transaction.connection, new, password=password)
    if account is None:
        raise PersonExists(new.name)
    add_audit_facts(person=new.name, role=new.role, groups=_join_names(new.groups))
    log.info("person.added", person=new.name, role=new.role, by=by.name)
    return account


async def change_account(
    context: OperatorContext, name: str, change: AccountChange, *, by: Person
) -> Account:
    """Change an account.

    A new password, or disabling the account, ends the sessions of the person.

    Raises:
        PersonUnknown: There is no such account.
        Unprocessable: The change is empty.
        OwnAccountChange: Administrators may not change their own role or disable themselves.
    """
    if change == AccountChange():
        raise Unprocessable("nothing was changed: give role, groups, disabled or password")
    if name == by.name and (change.role or change.disabled):
        raise OwnAccountChange()
    password = await _hash_password(context, change.password)
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        changed = await people.update_person(connection, name, change, password=password)
        if changed is not None and (password is not None or change.disabled):
            await end_all_sessions(connection, name)
    if changed is None:
        raise PersonUnknown(name)
    password_change = "new" if password else None
    add_audit_facts(role=change.role, disabled=change.disabled, password=password_change)
    add_audit_facts(groups=None if change.groups is None else _join_names(change.groups))
    log.info(
        "person.changed",
        person=name,
        role=change.role,
        groups=change.groups,
        disabled=change.disabled,
        password=None if password is None else "new",
        by=by.name,
    )
    return changed


async def change_own_password(
    context: OperatorContext, person: Person, new: NewPassword
) -> Account:
    """Replace the password of the person and end all their sessions.

    Raises:
        WrongPassword: The old password is wrong.
        TooManySignInAttempts: There were too many attempts.
    """
    await context.password_sign_in.sign_in(
        person.name, new.old.get_secret_value(), _do_nothing, action="says the old password"
    )
    return await change_account(context, person.name, AccountChange(password=new.new), by=person)


async def end_own_sessions(context: OperatorContext, person: Person) -> None:
    """End all sessions of the person in every browser; tokens stay valid."""
    async with context.database.transaction() as transaction:
        await end_all_sessions(transaction.connection, person.name)
    log.info("person.signed_out_everywhere", person=person.name)


async def create_token_with_password(
    context: OperatorContext, credentials: SignInWithPassword
) -> NewTokenSecret:
    """Create a token for a person who signs in with a password.

    Raises:
        WrongPassword: The name or the password is wrong.
        TooManySignInAttempts: There were too many attempts.
        TooManyTokens: The person has the maximum number of tokens.
    """

    async def begin(connection: Connection, person: Person) -> NewTokenSecret:
        return await create_token_in_transaction(
            connection, NewToken(label=credentials.label), by=person
        )

    return await context.password_sign_in.sign_in(
        credentials.name, credentials.password.get_secret_value(), begin
    )


async def _hash_password(context: OperatorContext, password: SecretStr | None) -> str | None:
    if password is None:
        return None
    return await context.passwords.hash_password(password.get_secret_value())


def _join_names(groups: list[str]) -> str:
    return ", ".join(groups) or EVERYONE


async def _do_nothing(connection: Connection, person: Person) -> None:
    """Do nothing after the check of the old password."""
