"""Rotation of the key that encrypts secrets."""

import structlog

from sluice.servicekit.sealing import Unsealable
from wfms.operator.context import OperatorContext
from wfms.operator.secrets.db import secrets
from wfms.operator.secrets.domain.secrets import sealed_as

log = structlog.get_logger(__name__)


async def reencrypt_secrets(context: OperatorContext) -> None:
    """Encrypt with the first key all secrets that were encrypted with another key.

    Secrets that no key decrypts are logged and stay unchanged.

    Raises:
        NoKey: There are secrets and no key.
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
