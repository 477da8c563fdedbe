"""Create a token."""

from sluice.contracts.access.people import NewToken, NewTokenSecret
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Database
from wfms.operator.identity.usecases.tokens.token_creation import create_token_in_transaction


async def create_token(database: Database, new: NewToken, *, by: Person) -> NewTokenSecret:
    """Create a token; its secret is returned only this once.

    Raises:
        InsufficientRole: The token would permit more than its holder or the principal may do.
        PersonUnknown: There is no such active account.
        TooManyTokens: The person has the maximum number of tokens.
    """
    async with database.transaction() as transaction:
        return await create_token_in_transaction(transaction.connection, new, by=by)
