"""Revoke a token by its secret."""

from sluice.servicekit.audit.rows import record_unauthenticated_request
from sluice.servicekit.database import Database
from wfms.operator.identity.db import person_tokens


async def revoke_token_by_secret(database: Database, secret: str) -> None:
    """Revoke the token that has this secret, no matter who holds it."""
    async with database.transaction() as transaction:
        person = await person_tokens.revoke_itself(transaction.connection, secret)
        if person is not None:
            action = "revoked by its holder"
            await record_unauthenticated_request(
                transaction.connection, person, action, outcome=204
            )
