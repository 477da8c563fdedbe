"""Lists that are read page by page."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from uuid import UUID

from sluice.contracts.datasets import Dataset, DatasetPage, File, FilePage

#: Most files that one request carries, and one page.
MOST_FILES = 10_000
#: Data sets asked for in one request: their uids travel in the query string.
UIDS = 100


async def each_file(page: Callable[[str | None], Awaitable[FilePage]]) -> AsyncIterator[File]:
    """``page``: reads the one behind a place; None: the first."""
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
    """Those of ``uids`` that are known; ``ask`` is for one request."""
    found: list[Dataset] = []
    for start in range(0, len(uids), UIDS):
        asked = uids[start : start + UIDS]
        # A release that does not know the question answers another one.
        found += [dataset for dataset in (await ask(asked)).datasets if dataset.uid in asked]
    return found
