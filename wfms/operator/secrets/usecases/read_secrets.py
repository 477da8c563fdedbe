"""Names and versions of secrets and the templates that may use them, but never a value."""

from collections.abc import Sequence
from itertools import groupby
from uuid import UUID

from sluice.contracts.access.secrets import Secret, SecretVersion
from sluice.servicekit.database import Database
from wfms.operator.secrets.db import secrets
from wfms.operator.secrets.db.secrets import StoredSecret
from wfms.operator.secrets.domain.errors import SecretUnknown
from wfms.operator.secrets.usecases.secret_users import explain_refusal


async def read_secrets(database: Database) -> list[Secret]:
    """Return the secrets by name."""
    async with database.connection() as connection:
        all_versions = await secrets.list_all_versions(connection)
    return [
        _build_secret(list(versions))
        for _, versions in groupby(all_versions, lambda each: each.name)
    ]


async def read_secret(database: Database, name: str, *, template_id: UUID | None = None) -> Secret:
    """Return the versions of a secret and, with ``template_id``, why that template may not use it.

    Raises:
        SecretUnknown: There is no such secret.
    """
    async with database.connection() as connection:
        versions = await secrets.list_versions(connection, name)
        if not versions:
            raise SecretUnknown(name)
        refusal = template_id and await explain_refusal(connection, versions[0], template_id)
    return _build_secret(versions).model_copy(update={"refused": refusal})


def _build_secret(versions: Sequence[StoredSecret]) -> Secret:
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
