"""Changes the key of what is kept encrypted, when the service starts."""

import structlog

from sluice.servicekit.sealing import NoKey
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.seal_secrets_anew import seal_secrets_anew

log = structlog.get_logger(__name__)


class SealAnew:
    """Component, behind the database. Once at the start is enough: keys are settings."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    async def start(self) -> None:
        try:
            await seal_secrets_anew(self._context)
        except NoKey as error:  # nothing else depends on it
            log.warning("secret.no_key", reason=error.detail)

    async def stop(self) -> None:
        return None
