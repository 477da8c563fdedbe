"""The creation of a token, within the transaction of the caller."""

import secrets
from dataclasses import replace
from datetime import timedelta

import structlog
from pydantic import SecretStr

from sluice.contracts.access.access import Role
from sluice.contracts.access.people import TOKEN_PREFIX, NewToken, NewTokenSecret
from sluice.servicekit.access.principal import Person
from sluice.servicekit.audit.request import add_audit_facts
from sluice.servicekit.database import Connection
from wfms.operator.identity.db import person_tokens
from wfms.operator.identity.db.people import find_person, to_person
from wfms.operator.identity.domain.errors import (
    InsufficientRole,
    PersonUnknown,
    TooManyTokens,
)

#: Valid tokens that a person may have.
MAX_TOKENS = 100

log = structlog.get_logger(__name__)


async def create_token_in_transaction(
    connection: Connection, new: NewToken, *, by: Person
) -> NewTokenSecret:
    """Create a token as ``create_token`` does, within the transaction of the caller."""
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    holder = by
    if new.person not in {None, by.name}:
        holder = await _find_holder(connection, str(new.person), by=by)
    highest_role = by.role.least(holder.role)
    role = new.role or highest_role
    if not highest_role.includes(role):
        subject = "you are" if holder is by else f"{holder.name} is"
        raise InsufficientRole(f"the token is to be {role}", f"{subject} {highest_role}")
    if await person_tokens.count_valid_tokens(connection, holder.name) >= MAX_TOKENS:
        raise TooManyTokens(holder.name, MAX_TOKENS)
    token = await person_tokens.insert_token(
        connection,
        replace(holder, role=role),
        new.label,
        secret=secret,
        life=timedelta(days=new.days),
    )
    add_audit_facts(token=token.id, person=token.person, label=token.label, role=role)
    log.info("token.given", token=str(token.id), person=token.person, role=role, by=by.name)
    return NewTokenSecret(token=token, secret=SecretStr(secret))


async def _find_holder(connection: Connection, name: str, *, by: Person) -> Person:
    """Return the holder of a token that an administrator creates for somebody else.

    Raises:
        InsufficientRole: The principal is no administrator.
        PersonUnknown: There is no such account, or it is disabled.
    """
    if by.role is not Role.ADMIN:
        raise InsufficientRole(
            f"only the role {Role.ADMIN} may create tokens of others", f"you are {by.role}"
        )
    account = await find_person(connection, name)
    if account is None or account.disabled_at is not None:
        raise PersonUnknown(name)
    return to_person(account)
