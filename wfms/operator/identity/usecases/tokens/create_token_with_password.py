"""Create a token for a person who signs in with a password."""

from sluice.contracts.access.people import (
    NewToken,
    NewTokenSecret,
    SignInWithPassword,
)
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Connection
from wfms.operator.context import OperatorContext
from wfms.operator.identity.usecases.tokens.token_creation import create_token_in_transaction


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
