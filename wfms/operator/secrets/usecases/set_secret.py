"""Storage of new versions of secrets."""

import structlog

from sluice.contracts.access.secrets import NewSecret, Secret
from wfms.operator.context import OperatorContext
from wfms.operator.secrets.db import secrets
from wfms.operator.secrets.domain.secrets import sealed_as
from wfms.operator.secrets.usecases.get_secret import get_secret
from wfms.operator.secrets.usecases.secret_users import choose_users

log = structlog.get_logger(__name__)


async def set_secret(context: OperatorContext, new: NewSecret) -> Secret:
    """Store a new encrypted version of a secret, which new chains use.

    Raises:
        EncryptionKeyMissing: The service has no key.
        SecretWithoutUsers: No template is named.
        AmbiguousTemplates: The names do not identify the group that owns the templates.
        UnknownGroup: The group has no members.
    """
    name = new.name
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        await secrets.lock_secret(connection, name)
        version = await secrets.get_last_version(connection, name) + 1
        before = await secrets.list_versions(connection, name)
        users = await choose_users(connection, new, before[0] if before else None)
        sealed = context.sealer.seal(new.value.get_secret_value(), what=sealed_as(name, version))
        await secrets.insert_secret(
            connection, name, version=version, sealed_value=sealed, users=users
        )
    log.info(
        "secret.set", secret=name, version=version, templates=users.templates, group=users.group
    )
    return await get_secret(context.database, name)
