"""Removes a secret, or one version of it."""

import structlog

from sluice.servicekit.database import Database
from wfms.operator.db import secrets
from wfms.operator.domain.errors import SecretUnknown

log = structlog.get_logger(__name__)


async def remove_secret(database: Database, name: str, *, version: int | None = None) -> None:
    """``version`` None: all of them. Precondition: none. Effect: what was kept is gone; jobs that
    start from now on and need it fail, those that run have it. Messages: none. Raises
    ``SecretUnknown``.
    """
    async with database.transaction() as transaction:
        await secrets.lock_secret(transaction.connection, name)
        removed = await secrets.mark_removed(transaction.connection, name, version=version)
    if not removed:
        raise SecretUnknown(name, version)
    log.info("secret.removed", secret=name, versions=removed)
