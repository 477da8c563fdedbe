"""List several data sets side by side: the files with the same number."""

from collections.abc import AsyncIterator, Mapping
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import InputMode
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.tasks import Task
from wms.domain.splitting.dotproduct import FileStream, is_over, join_streams
from wms.usecases.splitting.input_files import InputDatasets


async def list_grouped_files(
    dms: DmsClient,
    task: Task,
    datasets: Mapping[UUID, Dataset],
    *,
    page: int,
    released: bool = False,
) -> AsyncIterator[tuple[int, list[InputFile]]]:
    """Yield the files with the same number of all data sets that the task scatters over.

    ``released`` includes released files.
    """
    main = task.main_input
    each = [side for side in task.side_inputs if side.mode is InputMode.EACH]
    streams = [
        FileStream("", main.optional),
        *(FileStream(side.port, side.optional) for side in each),
    ]
    ports = [("", main), *((side.port, side) for side in each)]
    pages = [
        InputDatasets.of(dms, task_input, datasets, port=port, released=released).pages(page)
        for port, task_input in ports
    ]
    while not is_over(streams):
        for stream, further in zip(streams, pages, strict=True):
            await _fill(stream, further)
        for seq, files in join_streams(streams):
            yield seq, files


async def _fill(stream: FileStream, pages: AsyncIterator[list[InputFile]]) -> None:
    while stream.is_dry:
        files = await anext(pages, None)
        stream.add(files or [], last=files is None)
