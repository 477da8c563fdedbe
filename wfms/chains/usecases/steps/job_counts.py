"""Counts of the jobs of tasks, from the WMS."""

from uuid import UUID

import structlog

from sluice.clients.wms import WmsClient
from sluice.contracts.chains.chains import ChainTask
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import StepState
from sluice.contracts.jobs.tasks import TaskStatus

log = structlog.get_logger(__name__)

#: Number of uids in one request to the WMS: they travel in the query string.
CHUNK = 100


async def add_job_counts(wms: WmsClient, tasks: list[ChainTask]) -> list[ChainTask]:
    """Return the tasks with the counts of their jobs, as far as the WMS knows them."""
    counts: dict[UUID, TaskStatus] = {}
    sent_uids = [
        task.task_uid for task in tasks if task.state not in {StepState.PENDING, StepState.STARTING}
    ]
    for start in range(0, len(sent_uids), CHUNK):
        try:
            answer = await wms.list_tasks(uid=sent_uids[start : start + CHUNK], limit=CHUNK)
        except ServiceError as error:
            log.warning("wms.no_counts", reason=error.detail)
            break
        counts |= {status.uid: status for status in answer.tasks}
    return [task.model_copy(update={"jobs": counts.get(task.task_uid)}) for task in tasks]
