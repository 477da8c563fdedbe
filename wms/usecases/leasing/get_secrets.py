"""Get the secrets of a job for its pilot."""

from uuid import UUID

import structlog

from sluice.clients.operator import OperatorClient
from sluice.contracts.access.secrets import Sealed, SecretsRequest, SecretValues
from sluice.contracts.common.problems import Conflict
from sluice.contracts.pilots.leases import JobToken
from sluice.servicekit.sealing import ANSWER, IN_TIME, REQUEST, Sealer
from wms.db.jobs.leases import find_leased_task
from wms.db.pilots.pilots import see_pilot
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


class AttemptNotLeased(Conflict):
    """The attempt is not, or no longer, this pilot's, so it gets no secrets."""

    def __init__(self, job: JobToken, pilot: UUID) -> None:
        super().__init__(
            f"attempt {job.attempt} of job {job.id} is not, or no longer, assigned to this pilot,"
            " which gets no secrets",
            job=job.id,
            attempt=job.attempt,
            pilot=pilot,
        )


async def get_secrets(
    context: WmsContext, operator: OperatorClient, sealer: Sealer, *, pilot: UUID, job: JobToken
) -> SecretValues:
    """Return the secrets of a job that the pilot has leased, and record that it was seen.

    The values are read from the operator service and stored nowhere.

    Args:
        context: The context of the WMS.
        operator: The client of the service that has the secrets.
        sealer: Encrypts the request and decrypts the values.
        pilot: The requesting pilot.
        job: The attempt that it has leased.

    Raises:
        NotFound: The pilot has not registered.
        AttemptNotLeased: The lease has expired, or the attempt is not the pilot's.
        Conflict: A secret is not available.
        NotAvailable: The operator service does not answer.
    """
    async with context.database.connection() as connection:
        await see_pilot(connection, pilot)
        uid = await find_leased_task(connection, job, pilot=pilot)
        if uid is None:
            raise AttemptNotLeased(job, pilot)
        task = (await context.tasks.get(connection, [uid]))[uid].task
    if not task.needs.secrets:
        return SecretValues(values={})
    request = SecretsRequest(template=task.template, secrets=task.needs.secrets).model_dump_json()
    sealed = Sealed(text=sealer.seal(request, what=REQUEST).decode())
    answer = await operator.open_secrets(sealed)
    text = sealer.open(answer.text.encode(), what=ANSWER, seconds=IN_TIME)
    log.info(
        "secrets.given",
        pilot=str(pilot),
        job=job.id,
        attempt=job.attempt,
        task=str(uid),
        secrets=sorted(map(str, task.needs.secrets.values())),
    )
    return SecretValues.model_validate_json(text)
