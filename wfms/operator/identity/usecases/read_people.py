"""Accounts and tokens."""

from sluice.contracts.access.people import Account, Me, Token
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Database
from wfms.operator.identity.db.people import find_person, list_people
from wfms.operator.identity.db.person_tokens import list_tokens


async def read_accounts(database: Database) -> list[Account]:
    """Return the accounts by name."""
    async with database.connection() as connection:
        return await list_people(connection)


async def read_me(database: Database, person: Person) -> Me:
    """Return the person with their account, role and groups."""
    async with database.connection() as connection:
        account = await find_person(connection, person.name)
    return Me(name=person.name, role=person.role, account=account, groups=list(person.groups))


async def read_tokens(database: Database, person: str | None) -> list[Token]:
    """Return the tokens of a person, or of all people for None, newest first."""
    async with database.connection() as connection:
        return await list_tokens(connection, person)
