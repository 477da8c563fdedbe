"""List tokens."""

from sluice.contracts.access.people import Token
from sluice.servicekit.database import Database
from wfms.operator.identity.db import person_tokens


async def list_tokens(database: Database, person: str | None) -> list[Token]:
    """Return the tokens of a person, or of all people for None, newest first."""
    async with database.connection() as connection:
        return await person_tokens.list_tokens(connection, person)
