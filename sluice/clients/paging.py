"""Lists that are read page by page."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from uuid import UUID

from sluice.contracts.data.datasets import Dataset, DatasetPage, File, FilePage

#: The maximum number of files in one request and on one page.
MAX_FILES = 10_000
#: The number of data sets in one request, because their uids travel in the query string.
MAX_UIDS = 100


async def iterate_files(
    read_page: Callable[[str | None], Awaitable[FilePage]],
) -> AsyncIterator[File]:
    """Yield the files of all pages.

    ``read_page`` reads the page after a place. None stands for the beginning.
    """
    after: str | None = None
    while True:
        page = await read_page(after)
        for file in page.files:
            yield file
        if page.after is None:
            return
        after = page.after


async def read_existing_datasets(
    read_part: Callable[[Sequence[UUID]], Awaitable[DatasetPage]], uids: Sequence[UUID]
) -> list[Dataset]:
    """Return the data sets of ``uids`` that exist. ``read_part`` sends one request."""
    datasets: list[Dataset] = []
    for start in range(0, len(uids), MAX_UIDS):
        part = uids[start : start + MAX_UIDS]
        datasets += (await read_part(part)).datasets
    return datasets
