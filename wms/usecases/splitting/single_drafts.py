"""Jobs with one entry each, which batches and groups are made of."""

from collections.abc import AsyncIterator, Mapping
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import InputMode, TaskMode
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import Task
from wms.domain.splitting.grouping import Grouping, JobDraft
from wms.usecases.splitting.input_files import InputDatasets
from wms.usecases.splitting.list_combined_drafts import list_combined_drafts
from wms.usecases.splitting.list_grouped_files import list_grouped_files
from wms.usecases.splitting.only_file import list_only_file


async def list_single_drafts(
    dms: DmsClient,
    task: Task,
    datasets: Mapping[UUID, Dataset],
    *,
    page: int,
    released: bool = False,
) -> AsyncIterator[JobDraft]:
    """Yield jobs as ``list_drafts`` does, with one entry each."""
    main = task.main_input
    first = InputDatasets.of(dms, main, datasets, port="", released=released)
    if task.combines:
        async for draft in list_combined_drafts(dms, task, datasets, page=page):
            yield draft
    elif main.pick is not None:
        for file in await first.picked(
            main.pick, port=f"the input {main.port} of step {task.step}"
        ):
            yield JobDraft(file.seq, [file])
    elif task.single and main.mode is InputMode.NONE:
        yield JobDraft(0, [])
    elif task.single:
        files = await list_only_file(first, optional=main.optional, port=main.port, step=task.step)
        yield JobDraft(files[0].seq if files else 0, files)
    elif task.mode is TaskMode.MERGE:
        grouping = Grouping(task.mode, task.groups)
        async for files in first.pages(page):
            for draft in grouping.add(files):
                yield draft
        for draft in grouping.finish():
            yield draft
    else:
        async for seq, files in list_grouped_files(
            dms, task, datasets, page=page, released=released
        ):
            yield JobDraft(seq, files)
