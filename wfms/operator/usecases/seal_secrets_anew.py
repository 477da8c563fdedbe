"""Encrypts secrets with the first key which were encrypted with another one."""

import structlog

from sluice.servicekit.sealing import Unsealable
from wfms.operator.db import secrets
from wfms.operator.domain.secrets import sealed_as
from wfms.operator.usecases.context import OperatorContext

log = structlog.get_logger(__name__)


async def seal_secrets_anew(context: OperatorContext) -> None:
    """Precondition: none. Effect: the first key alone opens all that any of the keys opens; what
    none of them does is left as it is, and told. Messages: none. Raises ``NoKey`` where there is
    something to be encrypted, and no key.
    """
    async with context.database.connection() as connection:
        found = await secrets.all_secrets(connection)
        old = [secret for secret in found if not context.sealer.is_current(secret.sealed)]
        for secret in old:
            what = sealed_as(secret.name, secret.version)
            try:
                text = context.sealer.open(secret.sealed, what=what)
            except Unsealable as error:
                log.error("secret.not_readable", reason=error.detail)
                continue
            await secrets.reseal(connection, secret, context.sealer.seal(text, what=what))
            log.info("secret.sealed_anew", secret=secret.name, version=secret.version)
