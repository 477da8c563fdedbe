"""List the jobs of a task that reads several data sets."""

from collections.abc import AsyncIterator, Mapping
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import InputMode
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import Task
from wms.domain.splitting.grouping import JobDraft, merge_drafts
from wms.usecases.splitting.single_drafts import list_single_drafts


def reads_several(task: Task) -> bool:
    """Return whether its jobs are made of anything but the files of one data set."""
    each = any(side.mode is InputMode.EACH for side in task.side_inputs)
    main = task.main_input
    return bool(main.next_inputs) or main.pick is not None or task.single or each or task.combines


async def list_drafts(
    dms: DmsClient,
    task: Task,
    datasets: Mapping[UUID, Dataset],
    *,
    page: int,
    released: bool = False,
) -> AsyncIterator[JobDraft]:
    """Yield the jobs of a task that reads several data sets, in order of seq.

    ``released`` includes released files.
    """
    waiting: list[JobDraft] = []
    async for draft in list_single_drafts(dms, task, datasets, page=page, released=released):
        if waiting and (len(waiting) >= task.batch or draft.seq <= waiting[-1].last_seq):
            yield merge_drafts(waiting)
            waiting = []
        waiting.append(draft)
    if waiting:
        yield merge_drafts(waiting)
