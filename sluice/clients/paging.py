"""Lists that are read page by page."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from uuid import UUID

from sluice.contracts.data.datasets import Dataset, DatasetPage, File, FilePage

#: The maximum number of files in one request and on one page.
MAX_FILES = 10_000
#: The number of data sets in one request, because their uids travel in the query string.
UIDS = 100


async def each_file(page: Callable[[str | None], Awaitable[FilePage]]) -> AsyncIterator[File]:
    """Yield the files of all pages. ``page`` reads the page after a place (None: the first)."""
    after: str | None = None
    while True:
        found = await page(after)
        for file in found.files:
            yield file
        if found.after is None:
            return
        after = found.after


async def each_known(
    ask: Callable[[Sequence[UUID]], Awaitable[DatasetPage]], uids: Sequence[UUID]
) -> list[Dataset]:
    """Return those of ``uids`` that exist. ``ask`` sends one request."""
    found: list[Dataset] = []
    for start in range(0, len(uids), UIDS):
        asked = uids[start : start + UIDS]
        found += (await ask(asked)).datasets
    return found
