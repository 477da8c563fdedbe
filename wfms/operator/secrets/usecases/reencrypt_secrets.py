"""Rotation of the key that encrypts secrets."""

import structlog

from sluice.servicekit.sealing import DecryptionFailed, EncryptionKeyMissing
from wfms.operator.context import OperatorContext
from wfms.operator.secrets.db import secrets
from wfms.operator.secrets.domain.secrets import sealed_as

log = structlog.get_logger(__name__)


async def reencrypt_secrets(context: OperatorContext) -> None:
    """Encrypt with the first key all secrets that were encrypted with another key.

    Without a key, and for secrets that no key decrypts, only the reason is logged.
    """
    async with context.database.connection() as connection:
        versions = await secrets.list_all_versions(connection)
        outdated = [secret for secret in versions if not context.sealer.is_current(secret.sealed)]
        for secret in outdated:
            what = sealed_as(secret.name, secret.version)
            try:
                text = context.sealer.open(secret.sealed, what=what)
                sealed = context.sealer.seal(text, what=what)
            except EncryptionKeyMissing as error:
                log.warning("secret.no_key", reason=error.detail)
                return
            except DecryptionFailed as error:
                log.error("secret.not_readable", reason=error.detail)
                continue
            await secrets.reseal(connection, secret, sealed)
            log.info("secret.reencrypted", secret=secret.name, version=secret.version)
