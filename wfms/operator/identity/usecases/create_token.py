"""Creation and revocation of tokens."""

import secrets
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import structlog
from pydantic import SecretStr

from sluice.contracts.access.access import Role
from sluice.contracts.access.people import TOKEN_PREFIX, NewToken, NewTokenSecret, Token
from sluice.servicekit.access.principal import Person
from sluice.servicekit.audit.request import add_audit_facts
from sluice.servicekit.audit.rows import record_unauthenticated_request
from sluice.servicekit.database import Connection, Database
from wfms.operator.identity.db import person_tokens
from wfms.operator.identity.db.people import find_person, to_person
from wfms.operator.identity.domain.errors import (
    InsufficientRole,
    PersonUnknown,
    TokenUnknown,
    TooManyTokens,
)

#: Valid tokens that a person may have.
MAX_TOKENS = 100

log = structlog.get_logger(__name__)


async def create_token(database: Database, new: NewToken, *, by: Person) -> NewTokenSecret:
    """Create a token; its secret is returned only this once.

    Raises:
        InsufficientRole: The token would permit more than its holder or the principal may do.
        PersonUnknown: There is no such active account.
        TooManyTokens: The person has the maximum number of tokens.
    """
    async with database.transaction() as transaction:
        return await create_token_in_transaction(transaction.connection, new, by=by)


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


async def revoke_token(database: Database, token: UUID, *, by: Person) -> Token:
    """Revoke a token.

    Raises:
        TokenUnknown: There is no such token, or it belongs to somebody else.
        InsufficientRole: The token has a higher role than the principal.
    """
    own = None if by.role is Role.ADMIN else by.name
    async with database.transaction() as transaction:
        revoked = await person_tokens.mark_revoked(transaction.connection, token, person=own)
        if revoked is None:
            raise TokenUnknown(token)
        if not by.role.includes(revoked.role):
            raise InsufficientRole(f"the token is {revoked.role}", f"you are {by.role}")
    log.info("token.revoked", token=str(token), person=revoked.person, by=by.name)
    return revoked


async def revoke_token_by_secret(database: Database, secret: str) -> None:
    """Revoke the token that has this secret, no matter who holds it."""
    async with database.transaction() as transaction:
        person = await person_tokens.revoke_itself(transaction.connection, secret)
        if person is not None:
            action = "revoked by its holder"
            await record_unauthenticated_request(
                transaction.connection, person, action, outcome=204
            )


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
