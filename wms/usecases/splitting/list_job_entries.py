"""List the entries of the jobs of a task that groups files."""

from collections.abc import AsyncIterator, Mapping
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import TaskMode
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import Task
from wms.domain.splitting.grouping import JobDraft
from wms.usecases.splitting.input_files import InputDatasets
from wms.usecases.splitting.single_drafts import list_single_drafts


async def list_job_entries(
    dms: DmsClient, task: Task, datasets: Mapping[UUID, Dataset], *, page: int
) -> AsyncIterator[JobDraft]:
    """Yield the entries of its jobs in order: files of a merge, or of a map jobs of one entry."""
    if task.mode is TaskMode.MERGE:
        first = InputDatasets.of(dms, task.main_input, datasets, port="")
        async for files in first.pages(page):
            for file in files:
                yield JobDraft(file.seq, [file])
        return
    async for draft in list_single_drafts(dms, task, datasets, page=page):
        yield draft
