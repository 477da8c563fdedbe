"""Tasks as the operator sees them: the chain's step, with the WMS's counts."""

from uuid import UUID

import structlog

from sluice.clients.wms import WmsClient
from sluice.contracts.chains import ChainTask, ChainTaskList
from sluice.contracts.problems import NotFound, ServiceError
from sluice.contracts.states import StepState
from sluice.contracts.tasks import TaskStatus
from sluice.servicekit.database import Database
from wfms.chains.db.reading import tasks_page

log = structlog.get_logger(__name__)

#: Uids in one request to the WMS: they travel in the query string.
CHUNK = 100


class NoSuchTask(NotFound):
    def __init__(self, uid: UUID) -> None:
        super().__init__(f"no chain has the task {uid}", task=uid)


async def read_tasks(
    database: Database, wms: WmsClient, *, chain: UUID | None, state: StepState | None, limit: int, full: bool = False
) -> ChainTaskList:
    """Newest chains first; counts are None where the WMS does not answer or does not know the task. ``full``: they say how many
    jobs were killed. Errors: none."""
    async with database.connection() as connection:
        tasks = await tasks_page(connection, chain=chain, state=state, limit=limit)
    return ChainTaskList(tasks=await _with_counts(wms, tasks, full=full))


async def read_task(database: Database, wms: WmsClient, uid: UUID, *, full: bool = False) -> ChainTask:
    """As ``read_tasks``. Errors: ``NoSuchTask``."""
    async with database.connection() as connection:
        tasks = await tasks_page(connection, task=uid)
    if not tasks:
        raise NoSuchTask(uid)
    return (await _with_counts(wms, tasks, full=full))[0]


async def _with_counts(wms: WmsClient, tasks: list[ChainTask], *, full: bool) -> list[ChainTask]:
    counts: dict[UUID, TaskStatus] = {}
    known = [task.task_id for task in tasks if task.status not in {StepState.PENDING, StepState.STARTING}]
    for start in range(0, len(known), CHUNK):
        try:
            answer = await wms.tasks(known[start : start + CHUNK], limit=CHUNK, full=full)
        except ServiceError as error:
            log.warning("wms.no_counts", reason=error.detail)
            break
        counts |= {status.uid: status for status in answer.tasks}
    return [task.model_copy(update={"jobs": counts.get(task.task_id)}) for task in tasks]
