"""Lists that are read page by page."""

from collections.abc import AsyncIterator, Awaitable, Callable

from sluice.contracts.datasets import File, FilePage

#: Most files that one request carries, and one page.
MOST_FILES = 10_000


async def each_file(page: Callable[[str | None], Awaitable[FilePage]]) -> AsyncIterator[File]:
    """``page``: reads the one behind a place; None: the first."""
    after: str | None = None
    while True:
        found = await page(after)
        for file in found.files:
            yield file
        if found.next is None:
            return
        after = found.next
