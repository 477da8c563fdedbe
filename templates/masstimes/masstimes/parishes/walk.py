"""Reading of the parishes on the pages of a diocese, from the first page to the last."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx

from masstimes.parishes.columns import columns_of, parish_of
from masstimes.parishes.html_tables import Table, next_page, parse, tables
from masstimes.parishes.robots import Robots
from masstimes.polite import Polite

#: A function that shows a message to a person.
Tell = Callable[[str], None]


def parishes_from(
    polite: Polite, url: str, *, most_pages: int, tell: Tell
) -> Iterator[dict[str, str]]:
    """Yield the parishes on a page and on the next pages of the same host.

    Args:
        polite: Sends the requests.
        url: The first page.
        most_pages: The largest number of pages.
        tell: Gets a message for each page and row that is left out.

    Raises:
        GaveUp: The server does not answer for now.
        Refused: A page is refused, or the site's robots.txt forbids it.
    """
    host, seen, wanted = httpx.URL(url).netloc, set[str](), url
    robots = Robots(polite)
    while wanted not in seen:
        if len(seen) == most_pages:
            tell(f"{wanted}: not read, as {most_pages} pages have been (--max-pages)")
            return
        seen.add(wanted)
        robots.require(wanted)
        answer = polite.get(wanted)
        tree = parse(answer)
        if tree is None:
            tell(f"{wanted}: the page is empty")
            return
        yield from _parishes_on(tree, wanted, tell)
        following = next_page(tree, str(answer.url))
        if following is None:
            return
        if httpx.URL(following).netloc != host:
            tell(f"{wanted}: its next page is on another host, {following}, and is not read")
            return
        wanted = following


def _parishes_on(tree: object, url: str, tell: Tell) -> Iterator[dict[str, str]]:
    found = False
    for number, table in enumerate(tables(tree), 1):
        place, columns = _header(table)
        if columns:
            found = True
            yield from _rows(table, place, columns, where=f"{url}: table {number}", tell=tell)
    if not found:
        tell(f"{url}: no table has a column of names of parishes (such as Parafia)")


def _header(table: Table) -> tuple[int, dict[str, int]]:
    """Return the first row with a column of names and another known column."""
    for place, row in enumerate(table.rows):
        columns = columns_of(row)
        if "name" in columns and len(columns) > 1:
            return place, columns
    return 0, {}


def _rows(
    table: Table, place: int, columns: dict[str, int], *, where: str, tell: Tell
) -> Iterator[dict[str, str]]:
    header = table.rows[place]
    for number, row in enumerate(table.rows[place + 1 :], place + 2):
        if row == header or not any(row):
            continue
        parish = parish_of(columns, row, table.above)
        if parish["name"]:
            yield parish
        else:
            tell(f"{where}, row {number}: no name, left out: {' | '.join(filter(None, row))}")
