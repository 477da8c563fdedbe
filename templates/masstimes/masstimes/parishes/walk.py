"""Reading of the parishes on the pages of a diocese, from the first page to the last."""

from collections.abc import Callable, Iterator

import httpx

from masstimes.parishes.columns import find_columns, make_parish
from masstimes.parishes.html_tables import Table, find_next_page, iter_tables, parse
from masstimes.parishes.robots import Robots
from masstimes.polite import PoliteClient

#: A function that shows a message to a person.
Tell = Callable[[str], None]


def read_diocese(
    polite: PoliteClient, url: str, *, max_pages: int, tell: Tell
) -> Iterator[dict[str, str]]:
    """Yield the parishes on a page and on the next pages of the same host.

    Args:
        polite: Sends the requests.
        url: The first page.
        max_pages: The largest number of pages.
        tell: Gets a message for each page and row that is left out.

    Raises:
        ServerUnavailable: The server does not answer for now.
        RequestRefused: A page is refused, or the site's robots.txt forbids it.
    """
    host, visited, page_url = httpx.URL(url).netloc, set[str](), url
    robots = Robots(polite)
    while page_url not in visited:
        if len(visited) == max_pages:
            tell(f"{page_url}: not read, as {max_pages} pages have been (--max-pages)")
            return
        visited.add(page_url)
        robots.require(page_url)
        answer = polite.get(page_url)
        tree = parse(answer)
        if tree is None:
            tell(f"{page_url}: the page is empty")
            return
        yield from _read_page(tree, page_url, tell)
        next_url = find_next_page(tree, str(answer.url))
        if next_url is None:
            return
        if httpx.URL(next_url).netloc != host:
            tell(f"{page_url}: its next page is on another host, {next_url}, and is not read")
            return
        page_url = next_url


def _read_page(tree: object, url: str, tell: Tell) -> Iterator[dict[str, str]]:
    has_parishes = False
    for number, table in enumerate(iter_tables(tree), 1):
        place, columns = _find_header(table)
        if columns:
            has_parishes = True
            yield from _read_rows(table, place, columns, where=f"{url}: table {number}", tell=tell)
    if not has_parishes:
        tell(f"{url}: no table has a column of names of parishes (such as Parafia)")


def _find_header(table: Table) -> tuple[int, dict[str, int]]:
    """Return the first row with a column of names and another known column."""
    for place, row in enumerate(table.rows):
        columns = find_columns(row)
        if "name" in columns and len(columns) > 1:
            return place, columns
    return 0, {}


def _read_rows(
    table: Table, place: int, columns: dict[str, int], *, where: str, tell: Tell
) -> Iterator[dict[str, str]]:
    header = table.rows[place]
    for number, row in enumerate(table.rows[place + 1 :], place + 2):
        if row == header or not any(row):
            continue
        parish = make_parish(columns, row, table.above)
        if parish["name"]:
            yield parish
        else:
            tell(f"{where}, row {number}: no name, left out: {' | '.join(filter(None, row))}")
