"""Keeps a secret, or the next version of one."""

import structlog

from sluice.contracts.secrets import NewSecret, Secret
from wfms.operator.db import secrets
from wfms.operator.domain.errors import ForNobody
from wfms.operator.domain.secrets import sealed_as
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.read_secrets import read_secret

log = structlog.get_logger(__name__)


async def set_secret(context: OperatorContext, new: NewSecret) -> Secret:
    """Precondition: none. Effect: a new version of the secret, encrypted; chains that are made
    from now on use it. Messages: none. Raises ``NoKey``, ``ForNobody``; nothing is stored then."""
    name = new.name
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        await secrets.lock_secret(connection, name)
        version = await secrets.last_version(connection, name) + 1
        before = await secrets.versions_of(connection, name)
        templates = new.templates or (before[0].templates if before else None)
        sealed = context.sealer.seal(new.value.get_secret_value(), what=sealed_as(name, version))
        if templates is None:
            raise ForNobody(name)
        await secrets.insert_secret(
            connection, name, version=version, sealed=sealed, templates=templates
        )
    log.info("secret.set", secret=name, version=version, templates=templates)
    return await read_secret(context.database, name)
