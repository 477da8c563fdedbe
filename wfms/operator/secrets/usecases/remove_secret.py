"""Removal of secrets."""

import structlog

from sluice.servicekit.database import Database
from wfms.operator.secrets.db import secrets
from wfms.operator.secrets.domain.errors import SecretUnknown

log = structlog.get_logger(__name__)


async def remove_secret(database: Database, name: str, *, version: int | None = None) -> None:
    """Delete a version of a secret, or all versions.

    Jobs that start later and need it fail; running jobs already have the value.

    Raises:
        SecretUnknown: There is no such secret or version.
    """
    async with database.transaction() as transaction:
        await secrets.lock_secret(transaction.connection, name)
        removed = await secrets.mark_removed(transaction.connection, name, version=version)
    if not removed:
        raise SecretUnknown(name, version)
    log.info("secret.removed", secret=name, versions=removed)
