"""Re-encryption of stored secrets with the first key at the start of the service."""

import structlog

from sluice.servicekit.sealing import NoKey
from wfms.operator.context import OperatorContext
from wfms.operator.secrets.usecases.reencrypt_secrets import reencrypt_secrets

log = structlog.get_logger(__name__)


class SecretReencryption:
    """Component that re-encrypts stored secrets once, at the start. Start it after the database.

    Once is enough because keys are settings.
    """

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    async def start(self) -> None:
        """Re-encrypt the secrets."""
        try:
            await reencrypt_secrets(self._context)
        except NoKey as error:  # nothing else depends on it
            log.warning("secret.no_key", reason=error.detail)

    async def stop(self) -> None:
        """Do nothing."""
