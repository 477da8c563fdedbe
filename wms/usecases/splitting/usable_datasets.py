"""Input data sets of tasks: which can be used, and whether they are still complete."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import TaskInput
from wms.usecases.splitting.input_files import UnusableInput


async def list_usable_datasets(
    dms: DmsClient, inputs: Iterable[TaskInput]
) -> dict[UUID, Dataset] | str:
    """Return all data sets of these inputs, or why they cannot be used yet.

    Raises:
        UnusableInput: A data set is unknown or deleted.
        NotAvailable: The DMS does not answer.
    """
    datasets: dict[UUID, Dataset] = {}
    uids = [
        uid
        for task_input in inputs
        for uid in (
            task_input.dat_in_uid,
            *(further.dat_in_uid for further in task_input.next_inputs),
        )
    ]
    for uid in dict.fromkeys(uids):
        dataset = await _get_usable_dataset(dms, uid)
        if isinstance(dataset, str):
            return dataset
        datasets[uid] = dataset
    return datasets


async def _get_usable_dataset(dms: DmsClient, uid: UUID) -> Dataset | str:
    try:
        dataset = await dms.get_dataset(uid)
    except NotFound as error:
        raise UnusableInput(f"its input data set {uid} is unknown to the DMS") from error
    match dataset.state:
        case DatasetState.OPEN:
            files = format_count(dataset.count_files, "file")
            return (
                f"waiting for its input data set {dataset.name}: it is still open, with {files}"
                " so far"
            )
        case DatasetState.DELETING | DatasetState.DELETED:
            raise UnusableInput(f"its input data set {dataset.name} has been deleted")
        case DatasetState.CLOSED | DatasetState.UPLOADING | DatasetState.UPLOADED:
            return dataset


async def require_complete(dms: DmsClient, datasets: Mapping[UUID, Dataset]) -> None:
    """Check that no file was deleted while the files were listed; call it after that.

    Raises:
        UnusableInput: Released files were deleted and may be missing from the lists.
        NotAvailable: The DMS does not answer.
    """
    for listed in datasets.values():
        if listed.type is not DatasetType.INTERMEDIATE:
            continue
        dataset = await _get_usable_dataset(dms, listed.uid)
        if isinstance(dataset, Dataset) and dataset.released:
            raise UnusableInput(
                f"{format_count(dataset.released, 'file')} of its input data set {dataset.name}"
                " have been deleted, because no step needed them any more: rerun the step that"
                " wrote the data set"
            )
