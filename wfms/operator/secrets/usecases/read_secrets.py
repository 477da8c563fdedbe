"""Names and versions of secrets and the templates that may use them, but never a value."""

from collections.abc import Sequence
from itertools import groupby
from uuid import UUID

from sluice.contracts.access.secrets import Secret, SecretVersion
from sluice.servicekit.database import Database
from wfms.operator.secrets.db import secrets
from wfms.operator.secrets.db.secrets import StoredSecret
from wfms.operator.secrets.domain.errors import SecretUnknown
from wfms.operator.secrets.usecases.secret_users import why_refused


async def read_secrets(database: Database) -> list[Secret]:
    """Return the secrets by name."""
    async with database.connection() as connection:
        found = await secrets.all_secrets(connection)
    return [_secret(list(versions)) for _, versions in groupby(found, lambda each: each.name)]


async def read_secret(database: Database, name: str, *, template_id: UUID | None = None) -> Secret:
    """Return the versions of a secret and, with ``template_id``, why that template may not use it.

    Raises:
        SecretUnknown: There is no such secret.
    """
    async with database.connection() as connection:
        found = await secrets.versions_of(connection, name)
        if not found:
            raise SecretUnknown(name)
        refused = template_id and await why_refused(connection, found[0], template_id)
    return _secret(found).model_copy(update={"refused": refused})


def _secret(versions: Sequence[StoredSecret]) -> Secret:
    return Secret(
        name=versions[0].name,
        versions=[
            SecretVersion(
                version=each.version,
                created_at=each.created_at,
                templates=each.templates,
                group=each.owner_group,
            )
            for each in versions
        ],
    )
