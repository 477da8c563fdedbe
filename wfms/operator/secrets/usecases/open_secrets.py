"""Delivery of secret values to the WMS for a job that a pilot has leased."""

import structlog
from pydantic import SecretStr

from sluice.contracts.access.secrets import Sealed, SecretRef, SecretsRequest, SecretValues, may_use
from sluice.servicekit.database import Connection
from sluice.servicekit.sealing import ANSWER, IN_TIME, REQUEST
from sluice.text.visible_text import quoted
from wfms.operator.context import OperatorContext
from wfms.operator.secrets.db import secrets
from wfms.operator.secrets.domain.errors import SecretRefused
from wfms.operator.secrets.domain.secrets import sealed_as

log = structlog.get_logger(__name__)


async def open_secrets(context: OperatorContext, sealed_secret: Sealed) -> Sealed:
    """Decrypt the secrets of a sealed ``SecretsRequest``, and return sealed ``SecretValues``.

    The request must be sealed with the shared key within the last minute.

    Raises:
        EncryptionKeyMissing: No key is configured.
        DecryptionFailed: The request was sealed with another key or is too old.
        SecretRefused: A secret does not exist, or the template may not use it.
    """
    request = SecretsRequest.model_validate_json(
        context.sealer.open(sealed_secret.text.encode(), what=REQUEST, seconds=IN_TIME)
    )
    async with context.database.connection() as connection:
        values = {
            port: await _open_value(context, connection, ref, template=request.template)
            for port, ref in request.secrets.items()
        }
    log.info(
        "secret.used", template=request.template, secrets=sorted(map(str, request.secrets.values()))
    )
    answer = SecretValues(values=values).model_dump_json()
    return Sealed(text=context.sealer.seal(answer, what=ANSWER).decode())


async def _open_value(
    context: OperatorContext, connection: Connection, ref: SecretRef, *, template: str
) -> SecretStr:
    stored = await secrets.find_version(connection, ref.name, ref.version or 0)
    if stored is None:
        raise SecretRefused(ref, "is no longer there: it was removed")
    if not may_use(template, stored.templates):
        raise SecretRefused(
            ref, f"is not for template {quoted(template)}, but for {', '.join(stored.templates)}"
        )
    return SecretStr(
        context.sealer.open(stored.sealed, what=sealed_as(stored.name, stored.version))
    )
