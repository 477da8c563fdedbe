"""List tasks: the steps of chains, with the counts of jobs of the WMS."""

import re
from dataclasses import dataclass
from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.chains.chains import ChainTaskList
from sluice.contracts.common.problems import InvalidCursor
from sluice.contracts.common.states import StepState
from wfms.chains.db.reading import list_task_page
from wfms.chains.usecases.context import ChainsContext
from wfms.chains.usecases.steps.job_counts import add_job_counts

#: The place of a task: the position of its chain, and the number of its step.
_PLACE = re.compile(r"([0-9]{1,18})\.([0-9]{1,9})", re.ASCII)


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


async def list_tasks(context: ChainsContext, query: TaskQuery) -> ChainTaskList:
    """Return a page of tasks, those of the newest chains first.

    Counts are None if the WMS does not answer or does not know the task.

    Raises:
        InvalidCursor: ``after`` is not the end of a page.
    """
    after = None if query.after is None else _place(query.after)
    async with context.database.connection() as connection:
        tasks, last = await list_task_page(
            connection,
            chain=query.chain,
            state=query.state,
            after=after,
            limit=query.limit,
            visibility=query.visibility,
        )
    tasks_with_counts = await add_job_counts(context.wms, tasks)
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
