"""Read tasks: the chain's step, with the WMS's counts of jobs."""

import re
from dataclasses import dataclass
from uuid import UUID

import structlog

from sluice.clients.wms import WmsClient
from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.chains.chains import ChainTask, ChainTaskList
from sluice.contracts.common.problems import InvalidCursor, NotFound, ServiceError
from sluice.contracts.common.states import StepState
from sluice.contracts.jobs.tasks import TaskStatus
from wfms.chains.db.reading import read_task_page
from wfms.chains.usecases.context import ChainsContext

log = structlog.get_logger(__name__)

#: Number of uids in one request to the WMS: they travel in the query string.
CHUNK = 100

#: The place of a task: the position of its chain, and the number of its step.
_PLACE = re.compile(r"([0-9]{1,18})\.([0-9]{1,9})", re.ASCII)


class NoSuchTask(NotFound):
    """No chain has the task."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(f"no chain has the task {uid}", task=uid)


@dataclass(frozen=True, slots=True)
class TaskQuery:
    """Which tasks are listed, and how.

    Attributes:
        after: The ``after`` of the page before.
    """

    chain: UUID | None = None
    state: StepState | None = None
    after: str | None = None
    limit: int = 200
    visibility: Visibility = ALL


async def read_tasks(context: ChainsContext, query: TaskQuery) -> ChainTaskList:
    """Return a page of tasks, those of the newest chains first.

    Counts are None if the WMS does not answer or does not know the task.

    Raises:
        InvalidCursor: ``after`` is not the end of a page.
    """
    after = None if query.after is None else _place(query.after)
    async with context.database.connection() as connection:
        tasks, last = await read_task_page(
            connection,
            chain=query.chain,
            state=query.state,
            after=after,
            limit=query.limit,
            visibility=query.visibility,
        )
    tasks_with_counts = await _with_counts(context.wms, tasks)
    return ChainTaskList(
        tasks=tasks_with_counts, after=None if last is None else f"{last[0]}.{last[1]}"
    )


def _place(after: str) -> tuple[int, int]:
    """Parse the end of a page.

    Raises:
        InvalidCursor: It is not the end of a page.
    """
    match = _PLACE.fullmatch(after)
    if match is None:
        raise InvalidCursor(after)
    return int(match[1]), int(match[2])


async def read_task(context: ChainsContext, uid: UUID) -> ChainTask:
    """Return a task. Its counts are None if the WMS does not answer or does not know it.

    Raises:
        NoSuchTask: No chain has the task.
    """
    async with context.database.connection() as connection:
        tasks, _ = await read_task_page(connection, task=uid)
    if not tasks:
        raise NoSuchTask(uid)
    return (await _with_counts(context.wms, tasks))[0]


async def _with_counts(wms: WmsClient, tasks: list[ChainTask]) -> list[ChainTask]:
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
