"""Return the status of a data set."""

from uuid import UUID

from sluice.contracts.common.problems import ServiceError
from sluice.contracts.data.datasets import DatasetStatus
from wfms.operator.context import OperatorContext


async def get_dataset_status(context: OperatorContext, uid: UUID) -> DatasetStatus:
    """Return the status of a data set and, if the intake answers, why its chain waits.

    Raises:
        NotFound: There is no such data set.
        NotAvailable: The DMS does not answer.
    """
    status = await context.dms.get_dataset_status(uid)
    try:
        waits = await context.intake.get_waiting_handover(dataset_uid=uid)
    except ServiceError:
        return status
    return status.model_copy(update={"chain_waits": waits})
