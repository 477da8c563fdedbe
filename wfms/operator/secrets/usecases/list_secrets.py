"""List the secrets."""

from itertools import groupby

from sluice.contracts.access.secrets import Secret
from sluice.servicekit.database import Database
from wfms.operator.secrets.db import secrets
from wfms.operator.secrets.usecases.secret_versions import build_secret


async def list_secrets(database: Database) -> list[Secret]:
    """Return the secrets by name."""
    async with database.connection() as connection:
        all_versions = await secrets.list_all_versions(connection)
    return [
        build_secret(list(versions))
        for _, versions in groupby(all_versions, lambda each: each.name)
    ]
