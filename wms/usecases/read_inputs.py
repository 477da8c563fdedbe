"""Reads the files of a task's input data sets from the DMS, as inputs of jobs."""

from collections.abc import AsyncIterator, Mapping, Sequence
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.datasets import Dataset, File, FilePage
from sluice.contracts.naming import own_name
from sluice.contracts.pilots import InputFile
from sluice.contracts.problems import NotFound
from sluice.contracts.states import DatasetState, InputMode
from sluice.contracts.tasks import Task, TaskInput
from wms.domain.grouping import JobDraft
from wms.domain.joining import Stream, is_over, joined

#: So many files of a further data set can be given to every job.
MOST_SHARED = 10_000


class NotSplittable(Exception):
    """The input can never be worked with; the task fails with this sentence."""


async def usable_datasets(dms: DmsClient, task: Task) -> dict[UUID, Dataset] | str:
    """All input data sets, or why they cannot be worked with yet. Raises ``NotSplittable``, ``NotAvailable``."""
    found: dict[UUID, Dataset] = {}
    for uid in (task.dat_in_uid, *(side.dat_in_uid for side in task.side_inputs)):
        if uid in found:
            continue
        dataset = await _usable(dms, uid)
        if isinstance(dataset, str):
            return dataset
        found[uid] = dataset
    return found


async def _usable(dms: DmsClient, uid: UUID) -> Dataset | str:
    try:
        dataset = await dms.dataset(uid)
    except NotFound as error:
        raise NotSplittable(f"its input data set {uid} is unknown to the DMS") from error
    match dataset.state:
        case DatasetState.OPEN:
            return f"waiting for its input data set {dataset.name}: it is still open, with {dataset.count_files} files so far"
        case DatasetState.DELETING | DatasetState.DELETED:
            raise NotSplittable(f"its input data set {dataset.name} has been deleted")
        case DatasetState.CLOSED | DatasetState.UPLOADING | DatasetState.UPLOADED:
            return dataset


async def read_page(dms: DmsClient, dataset: Dataset, cursor: str | None, *, limit: int) -> FilePage:
    """Raises ``NotSplittable``, ``NotAvailable``."""
    try:
        return await dms.files(dataset.uid, after=cursor, limit=limit)
    except NotFound as error:
        raise NotSplittable(f"its input data set {dataset.name} was deleted while its jobs were being made") from error


def input_files(files: Sequence[File], port: str = "") -> list[InputFile]:
    """What a pilot needs of each file; the values were checked when the page was read."""
    return [
        InputFile.model_construct(
            seq=f.seq, name=_tool_name(f), size=f.size, checksum=f.checksum, url=f.url, meta=f.meta, port=port
        )
        for f in files
    ]


async def shared_inputs(dms: DmsClient, task: Task, datasets: Mapping[UUID, Dataset]) -> list[InputFile]:
    """What every job of the task gets, in the order of its side inputs. Raises ``NotSplittable``, ``NotAvailable``."""
    shared: list[InputFile] = []
    for side in task.side_inputs:
        if side.mode is not InputMode.EACH:
            shared += await _all_files(dms, datasets[side.dat_in_uid], side, step=task.step)
    return shared


async def joined_drafts(dms: DmsClient, task: Task, datasets: Mapping[UUID, Dataset], *, page: int) -> AsyncIterator[JobDraft]:
    """Jobs of a task that takes files of several data sets together, in order of seq, from the first on."""
    each = [side for side in task.side_inputs if side.mode is InputMode.EACH]
    first = _Reader(dms, datasets[task.dat_in_uid], Stream("", task.dat_in_optional), page)
    readers = [first, *(_Reader(dms, datasets[side.dat_in_uid], Stream(side.port, side.optional), page) for side in each)]
    streams = [reader.stream for reader in readers]
    while not is_over(streams):
        for reader in readers:
            await reader.fill()
        for seq, files in joined(streams):
            yield JobDraft(seq, files)


async def _all_files(dms: DmsClient, dataset: Dataset, side: TaskInput, *, step: str) -> list[InputFile]:
    """Raises ``NotSplittable`` where these are not as many as every job can be given."""
    most = 1 if side.mode is InputMode.ONE else MOST_SHARED
    answer = await read_page(dms, dataset, None, limit=most + 1 if most == 1 else most)
    if len(answer.files) > most or answer.next is not None:
        raise NotSplittable(
            f"every job of step {step} is given data set {dataset.name} at its input {side.port}, which takes at most "
            f"{most} file{'' if most == 1 else 's'}; the data set has {dataset.count_files}"
        )
    if not answer.files and side.mode is InputMode.ONE and not side.optional:
        raise NotSplittable(f"data set {dataset.name}, whose file every job of step {step} needs, is empty")
    return input_files(answer.files, side.port)


class _Reader:
    """Keeps a stream filled."""

    def __init__(self, dms: DmsClient, dataset: Dataset, stream: Stream, page: int) -> None:
        self.stream = stream
        self._dms = dms
        self._dataset = dataset
        self._page = page
        self._cursor: str | None = None

    async def fill(self) -> None:
        while self.stream.dry:
            answer = await read_page(self._dms, self._dataset, self._cursor, limit=self._page)
            self.stream.add(input_files(answer.files, self.stream.port), last=answer.next is None)
            self._cursor = answer.next


def _tool_name(file: File) -> str:
    """Files that came from outside keep their names, whatever they look like."""
    return file.name if file.origin is None else own_name(file.name)
