"""List the inputs that all jobs of a task share."""

from collections.abc import Mapping
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import InputMode
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.tasks import Task, TaskInput
from wms.usecases.splitting.input_files import InputDatasets
from wms.usecases.splitting.only_file import create_excess_error, list_only_file

#: Most files of a side input that every job can get.
MAX_SHARED = 10_000


async def list_shared_inputs(
    dms: DmsClient, task: Task, datasets: Mapping[UUID, Dataset]
) -> list[InputFile]:
    """Return the inputs that all jobs of the task share, in the order of its side inputs.

    Raises:
        UnusableInput: The inputs can never be used.
        NotAvailable: The DMS does not answer.
    """
    shared: list[InputFile] = []
    for side in task.side_inputs:
        if side.mode is not InputMode.EACH:
            shared += await _list_shared_files(
                InputDatasets.of(dms, side, datasets, port=side.port), side, step=task.step
            )
    return shared


async def _list_shared_files(
    datasets: InputDatasets, side: TaskInput, *, step: str
) -> list[InputFile]:
    """Return the files of a side input that every job gets.

    Raises:
        UnusableInput: There are too many or too few files.
    """
    if side.pick is not None:
        return await datasets.picked(side.pick, port=f"the input {side.port} of step {step}")
    if side.mode is InputMode.ONE:
        return await list_only_file(datasets, optional=side.optional, port=side.port, step=step)
    files = await datasets.at_most(MAX_SHARED + 1)
    if len(files) > MAX_SHARED:
        raise create_excess_error(datasets, MAX_SHARED, port=side.port, step=step)
    return files
