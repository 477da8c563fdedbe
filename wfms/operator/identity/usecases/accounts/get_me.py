"""Return the person with their account, role and groups."""

from sluice.contracts.access.people import Me
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Database
from wfms.operator.identity.db.people import find_person


async def get_me(database: Database, person: Person) -> Me:
    """Return the person with their account, role and groups."""
    async with database.connection() as connection:
        account = await find_person(connection, person.name)
    return Me(name=person.name, role=person.role, account=account, groups=list(person.groups))
