"""Accounts and tokens."""

from sluice.contracts.access.people import Account, Me, Token
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Database
from wfms.operator.identity.db.people import all_people, person_called
from wfms.operator.identity.db.person_tokens import tokens_of


async def read_accounts(database: Database) -> list[Account]:
    """Return the accounts by name."""
    async with database.connection() as connection:
        return await all_people(connection)


async def read_me(database: Database, person: Person) -> Me:
    """Return the person with their account, role and groups."""
    async with database.connection() as connection:
        account = await person_called(connection, person.name)
    return Me(name=person.name, role=person.role, account=account, groups=list(person.groups))


async def read_tokens(database: Database, person: str | None) -> list[Token]:
    """Return the tokens of a person, or of all people for None, newest first."""
    async with database.connection() as connection:
        return await tokens_of(connection, person)
