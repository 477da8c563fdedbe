"""Revoke a token."""

from uuid import UUID

import structlog

from sluice.contracts.access.access import Role
from sluice.contracts.access.people import Token
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Database
from wfms.operator.identity.db import person_tokens
from wfms.operator.identity.domain.errors import (
    InsufficientRole,
    TokenUnknown,
)

log = structlog.get_logger(__name__)


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
