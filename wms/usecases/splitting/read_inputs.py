"""Read the files of a task's input data sets from the DMS, as inputs of jobs."""

from collections.abc import AsyncIterator, Iterable, Mapping
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import DatasetState, DatasetType, InputMode, TaskMode
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.tasks import Task, TaskInput
from wms.domain.splitting.grouping import Grouping, JobDraft, merge_drafts
from wms.usecases.splitting.read_combinations import read_combined_drafts
from wms.usecases.splitting.read_files import InputDatasets, UnusableInput
from wms.usecases.splitting.read_grouped_files import read_grouped_files

#: Most files of a side input that every job can get.
MAX_SHARED = 10_000


async def find_usable_datasets(
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


def reads_several(task: Task) -> bool:
    """Return whether its jobs are made of anything but the files of one data set."""
    each = any(side.mode is InputMode.EACH for side in task.side_inputs)
    main = task.main_input
    return bool(main.next_inputs) or main.pick is not None or task.single or each or task.combines


async def read_shared_inputs(
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
            shared += await _read_shared_files(
                InputDatasets.of(dms, side, datasets, port=side.port), side, step=task.step
            )
    return shared


async def read_drafts(
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
    async for draft in _read_single_drafts(dms, task, datasets, page=page, released=released):
        if waiting and (len(waiting) >= task.batch or draft.seq <= waiting[-1].last_seq):
            yield merge_drafts(waiting)
            waiting = []
        waiting.append(draft)
    if waiting:
        yield merge_drafts(waiting)


async def read_job_entries(
    dms: DmsClient, task: Task, datasets: Mapping[UUID, Dataset], *, page: int
) -> AsyncIterator[JobDraft]:
    """Yield the entries of its jobs in order: files of a merge, or of a map jobs of one entry."""
    if task.mode is TaskMode.MERGE:
        first = InputDatasets.of(dms, task.main_input, datasets, port="")
        async for files in first.pages(page):
            for file in files:
                yield JobDraft(file.seq, [file])
        return
    async for draft in _read_single_drafts(dms, task, datasets, page=page):
        yield draft


async def _read_single_drafts(
    dms: DmsClient,
    task: Task,
    datasets: Mapping[UUID, Dataset],
    *,
    page: int,
    released: bool = False,
) -> AsyncIterator[JobDraft]:
    """Yield jobs as ``read_drafts`` does, with one entry each."""
    main = task.main_input
    first = InputDatasets.of(dms, main, datasets, port="", released=released)
    if task.combines:
        async for draft in read_combined_drafts(dms, task, datasets, page=page):
            yield draft
    elif main.pick is not None:
        for file in await first.picked(
            main.pick, port=f"the input {main.port} of step {task.step}"
        ):
            yield JobDraft(file.seq, [file])
    elif task.single and main.mode is InputMode.NONE:
        yield JobDraft(0, [])
    elif task.single:
        files = await _read_only_file(first, optional=main.optional, port=main.port, step=task.step)
        yield JobDraft(files[0].seq if files else 0, files)
    elif task.mode is TaskMode.MERGE:
        grouping = Grouping(task.mode, task.groups)
        async for files in first.pages(page):
            for draft in grouping.add(files):
                yield draft
        for draft in grouping.finish():
            yield draft
    else:
        async for seq, files in read_grouped_files(
            dms, task, datasets, page=page, released=released
        ):
            yield JobDraft(seq, files)


async def _read_shared_files(
    datasets: InputDatasets, side: TaskInput, *, step: str
) -> list[InputFile]:
    """Return the files of a side input that every job gets.

    Raises:
        UnusableInput: There are too many or too few files.
    """
    if side.pick is not None:
        return await datasets.picked(side.pick, port=f"the input {side.port} of step {step}")
    if side.mode is InputMode.ONE:
        return await _read_only_file(datasets, optional=side.optional, port=side.port, step=step)
    files = await datasets.at_most(MAX_SHARED + 1)
    if len(files) > MAX_SHARED:
        raise _create_excess_error(datasets, MAX_SHARED, port=side.port, step=step)
    return files


async def _read_only_file(
    datasets: InputDatasets, *, optional: bool, port: str, step: str
) -> list[InputFile]:
    """Return the only file as a list, or an empty list.

    Raises:
        UnusableInput: There are several files, or none although one is needed.
    """
    files = await datasets.at_most(2)
    if len(files) > 1:
        raise _create_excess_error(datasets, 1, port=port, step=step)
    if not files and not optional:
        raise UnusableInput(
            f"data set {datasets.names}, whose file every job of step {step} needs, is empty"
        )
    return files


def _create_excess_error(
    datasets: InputDatasets, limit: int, *, port: str, step: str
) -> UnusableInput:
    return UnusableInput(
        f"every job of step {step} is given data set {datasets.names} at its input {port}, which"
        f" takes at most {format_count(limit, 'file')}; the data set has {datasets.count}"
    )
