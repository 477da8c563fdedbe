"""Files of one or several consecutive data sets of the DMS, as inputs of jobs."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.common.naming import own_name
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import Pick
from sluice.contracts.data.datasets import Dataset, File, FilePage
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.tasks import TaskInput

#: Most files per request to the DMS.
_MAX_FILES_PER_REQUEST = 10_000


class UnusableInput(Exception):
    """The input can never be used; the task fails with this sentence."""


async def list_input_files(
    dms: DmsClient, dataset: Dataset, cursor: str | None, *, limit: int, released: bool = False
) -> FilePage:
    """Return a page of the files of a data set; ``released`` includes released files.

    Raises:
        UnusableInput: The data set was deleted.
        NotAvailable: The DMS does not answer.
    """
    try:
        return await dms.list_files(dataset.uid, after=cursor, limit=limit, released=released)
    except NotFound as error:
        raise UnusableInput(
            f"its input data set {dataset.name} was deleted while its jobs were being made"
        ) from error


def build_input_files(files: Sequence[File], port: str = "") -> list[InputFile]:
    """Return what a pilot needs of each file; its values were checked when the page was read."""
    return [
        InputFile.model_construct(
            seq=f.seq,
            name=_get_tool_name(f),
            size=f.size,
            checksum=f.checksum,
            url=f.url,
            meta=f.meta,
            port=port,
        )
        for f in files
    ]


@dataclass(frozen=True, slots=True)
class _Part:
    """One data set of several.

    Attributes:
        start: The number that is added to the numbers of its files.
        end: The limit of the sums. None means that there is no limit.
    """

    dataset: Dataset
    start: int
    end: int | None
    port: str


@dataclass(frozen=True, slots=True)
class InputDatasets:
    """The consecutive data sets of one input.

    Attributes:
        released: Whether released files are included.
    """

    dms: DmsClient
    parts: Sequence[_Part]
    released: bool = False

    @classmethod
    def of(
        cls,
        dms: DmsClient,
        task_input: TaskInput,
        datasets: Mapping[UUID, Dataset],
        *,
        port: str,
        released: bool = False,
    ) -> "InputDatasets":
        """Return the data sets of an input.

        ``port`` gets their files; it is empty for the main input.
        """
        starts = [0, *(further.start for further in task_input.next_inputs)]
        ends = [start or None for start in [*starts[1:], 0]]
        uids = [task_input.dat_in_uid, *(further.dat_in_uid for further in task_input.next_inputs)]
        return cls(
            dms,
            [
                _Part(datasets[uid], start, end, port)
                for uid, start, end in zip(uids, starts, ends, strict=True)
            ],
            released,
        )

    @property
    def names(self) -> str:
        """The names of the data sets."""
        return " + ".join(part.dataset.name for part in self.parts)

    @property
    def count(self) -> int:
        """The number of all files."""
        return sum(part.dataset.count_files for part in self.parts)

    async def pages(self, limit: int) -> AsyncIterator[list[InputFile]]:
        """Yield all files, in order.

        Raises:
            UnusableInput: A data set was deleted, or the number of a file is too high.
            NotAvailable: The DMS does not answer.
        """
        for part in self.parts:
            cursor: str | None = None
            while True:
                answer = await list_input_files(
                    self.dms, part.dataset, cursor, limit=limit, released=self.released
                )
                yield _renumber_files(build_input_files(answer.files, part.port), part)
                if answer.after is None:
                    break
                cursor = answer.after

    async def at_most(self, number: int) -> list[InputFile]:
        """Return the first files."""
        first_files: list[InputFile] = []
        async for files in self.pages(min(number, _MAX_FILES_PER_REQUEST)):
            first_files += files
            if len(first_files) >= number:
                break
        return first_files[:number]

    async def picked(self, pick: Pick, *, port: str) -> list[InputFile]:
        """Return the one file that is picked of all, as a list.

        Raises:
            UnusableInput: There is no file, or several where only one is permitted.
        """
        files = await self.at_most(2)
        if not files:
            raise UnusableInput(
                f"{port} takes the file of one of {self.names}, but none of them has a file"
            )
        if pick is Pick.ONLY and len(files) > 1:
            raise UnusableInput(
                f"{port} takes the only file of {self.names}, but there are {self.count}"
            )
        return files[:1]


def _renumber_files(files: list[InputFile], part: _Part) -> list[InputFile]:
    for file in files:
        if part.end is not None and file.seq + part.start >= part.end:
            raise UnusableInput(
                f"file {file.name} of data set {part.dataset.name} has the number {file.seq}: in"
                f" concatenated data sets, numbers must be below {part.end - part.start}"
            )
    return (
        [file.model_copy(update={"seq": file.seq + part.start}) for file in files]
        if part.start
        else files
    )


def _get_tool_name(file: File) -> str:
    """Return the name that the tool sees; files from outside keep their names."""
    return file.name if file.origin is None else own_name(file.name)
