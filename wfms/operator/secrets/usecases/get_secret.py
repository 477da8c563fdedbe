"""Return the versions of a secret."""

from uuid import UUID

from sluice.contracts.access.secrets import Secret
from sluice.servicekit.database import Database
from wfms.operator.secrets.db import secrets
from wfms.operator.secrets.domain.errors import SecretUnknown
from wfms.operator.secrets.usecases.secret_users import explain_refusal
from wfms.operator.secrets.usecases.secret_versions import build_secret


async def get_secret(database: Database, name: str, *, template_id: UUID | None = None) -> Secret:
    """Return the versions of a secret and, with ``template_id``, why that template may not use it.

    Raises:
        SecretUnknown: There is no such secret.
    """
    async with database.connection() as connection:
        versions = await secrets.list_versions(connection, name)
        if not versions:
            raise SecretUnknown(name)
        refusal = template_id and await explain_refusal(connection, versions[0], template_id)
    return build_secret(versions).model_copy(update={"refused": refusal})
