"""List the jobs of scatters over more than files of equal number.

These are lists of values and cross products. It works entry by entry, so it needs no more memory
than a page of files.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.job_inputs import InputFile, JobInput
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.templates.scatters import unequal_lists
from wms.domain.splitting.combinations import build_list_item, describe_excess_jobs, renumber
from wms.domain.splitting.dataflow_rules import list_scattered_inputs
from wms.domain.splitting.grouping import JobDraft
from wms.usecases.splitting.input_files import InputDatasets, UnusableInput
from wms.usecases.splitting.list_grouped_files import list_grouped_files


async def list_combined_drafts(
    dms: DmsClient, task: Task, datasets: Mapping[UUID, Dataset], *, page: int
) -> AsyncIterator[JobDraft]:
    """Yield jobs in order, one entry each.

    Raises:
        UnusableInput: The inputs can never be combined.
        NotAvailable: The DMS does not answer.
    """
    axes: dict[str, _Axis] = {
        **{axis.port: axis for axis in _list_files(dms, task, datasets, page)},
        **{port: _Items(port, len(task.args[port])) for port in task.needs.items},
    }
    if not task.cross:
        async for draft in _list_matching_drafts(dms, task, datasets, axes, page=page):
            yield draft
        return
    crossed = [axes[port] for port in task.cross]
    problem = describe_excess_jobs(task.step, {axis.port: axis.size for axis in crossed})
    if problem:
        raise UnusableInput(problem)
    number = 0
    async for row in _list_combinations(crossed):
        # The metadata of an output come from the first file, so files go first.
        inputs = sorted(row, key=lambda entry: not isinstance(entry, InputFile))
        yield JobDraft(number, [renumber(entry, number) for entry in inputs])
        number += 1


@dataclass(frozen=True, slots=True)
class _Items:
    """A list of values."""

    port: str
    size: int

    async def entries(self) -> AsyncIterator[JobInput]:
        """Yield the values as inputs of jobs."""
        for place in range(self.size):
            yield build_list_item(self.port, place, 0)


@dataclass(slots=True)
class _Files:
    """A data set; it is read again for each pass, unless it fits into one page."""

    port: str
    files: InputDatasets
    page: int
    _cached: list[InputFile] | None = field(default=None, init=False)

    @property
    def size(self) -> int:
        """The number of files."""
        return self.files.count

    async def entries(self) -> AsyncIterator[JobInput]:
        """Yield the files."""
        if self.size <= self.page and self._cached is None:
            self._cached = await self.files.at_most(self.page)
        if self._cached is not None:
            for file in self._cached:
                yield file
            return
        async for files in self.files.pages(self.page):
            for file in files:
                yield file


_Axis = _Files | _Items


def _list_files(
    dms: DmsClient, task: Task, datasets: Mapping[UUID, Dataset], page: int
) -> list[_Files]:
    return [
        _Files(
            task_input.port,
            InputDatasets.of(
                dms,
                task_input,
                datasets,
                port="" if task_input is task.main_input else task_input.port,
            ),
            page,
        )
        for task_input in list_scattered_inputs(task)
    ]


async def _list_matching_drafts(
    dms: DmsClient,
    task: Task,
    datasets: Mapping[UUID, Dataset],
    axes: Mapping[str, _Axis],
    *,
    page: int,
) -> AsyncIterator[JobDraft]:
    """Yield jobs of files with the same number, and the values at the same place among these."""
    lists = {port: axis.size for port, axis in axes.items() if isinstance(axis, _Items)}
    files = {port: axis.size for port, axis in axes.items() if isinstance(axis, _Files)}
    problem = unequal_lists(task.step, lists, files=files)
    if problem:
        raise UnusableInput(problem)
    size, place = next(iter({**lists, **files}.values())), 0
    if not files:
        for number in range(size):
            yield JobDraft(number, [build_list_item(port, number, number) for port in axes])
        return
    async for number, matching_files in _list_matching_files(dms, task, datasets, axes, page=page):
        items = [build_list_item(port, place, number) for port in task.needs.items]
        yield JobDraft(number, [*matching_files, *items])
        place += 1
    if place != size:
        raise UnusableInput(
            f"step {task.step} takes {size} values together with files of the same number, but only"
            f" {place} numbers have a file in each of its data sets"
        )


async def _list_matching_files(
    dms: DmsClient,
    task: Task,
    datasets: Mapping[UUID, Dataset],
    axes: Mapping[str, _Axis],
    *,
    page: int,
) -> AsyncIterator[tuple[int, list[JobInput]]]:
    """Yield files that belong together, with the number of the first.

    In data sets that are numbered independently, files at the same place belong together.
    """
    if not task.by_place:
        async for number, files in list_grouped_files(dms, task, datasets, page=page):
            yield number, list(files)
        return
    first, *others = [axis.entries() for axis in axes.values() if isinstance(axis, _Files)]
    async for file in first:
        beside = [await anext(other, None) for other in others]
        yield (
            file.seq,
            [file, *(renumber(each, file.seq) for each in beside if each is not None)],
        )


async def _list_combinations(axes: Sequence[_Axis]) -> AsyncIterator[tuple[JobInput, ...]]:
    """Yield all combinations; the last axis changes fastest."""
    if not axes:
        yield ()
        return
    first, *others = axes
    async for entry in first.entries():
        async for row in _list_combinations(others):
            yield (entry, *row)
