"""The tables of a page with the headings above them, and the link to the next page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urldefrag, urljoin

from lxml import etree, html

from masstimes.crawl.decoding import decode_page
from masstimes.folding import fold
from masstimes.parishes.columns import parse_heading
from masstimes.polite import Answer

#: The largest span of a cell that is plausible in a table for people.
_MAX_SPAN = 500
_ROWS = "./tr|./thead/tr|./tbody/tr|./tfoot/tr"
_NEXT = re.compile(r"nast[eę]pn[aey]( strona)?|dalej|next|[>»›→]+", re.IGNORECASE)
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


@dataclass(frozen=True, slots=True)
class Table:
    """A table. ``above`` are the values of headings before it, by column."""

    above: dict[str, str]
    rows: list[list[str]]


def parse(answer: Answer) -> Any:
    """Return the page as a tree, or None if it is empty."""
    text = decode_page(answer.body, answer.content_type)
    # lxml refuses text with an encoding declaration.
    source = re.sub(r"^\s*<\?xml[^>]*\?>", "", text.replace("\0", ""))
    try:
        return html.document_fromstring(source)
    except (etree.ParserError, ValueError):
        return None


def iter_tables(tree: Any) -> Iterator[Table]:
    """Yield the tables in their order. A nested table comes after the outer one."""
    above: dict[str, str] = {}
    for element in tree.iter(*_HEADINGS, "caption", "table"):
        if element.tag == "table":
            own = dict(above)
            for caption in element.findall("caption"):
                own.update([heading] if (heading := parse_heading(_text(caption))) else [])
            yield Table(own, _grid(element))
        elif element.tag in _HEADINGS and (heading := parse_heading(_text(element))):
            above.update([heading])


def find_next_page(tree: Any, url: str) -> str | None:
    """Return the address of the next page, or None."""
    for element in tree.iter("link", "a"):
        target = element.get("href")
        if not target:
            continue
        is_next = "next" in (element.get("rel") or "").lower().split()
        if is_next or (element.tag == "a" and _NEXT.fullmatch(_strip_arrows(_text(element)))):
            try:
                return str(urldefrag(urljoin(url, target.strip())).url)
            except ValueError:
                continue
    return None


def _strip_arrows(text: str) -> str:
    """Return ``następna strona`` for ``następna strona »``."""
    return re.sub(r"(?<=\w)\s*[>»›→]+$", "", fold(text))


def _grid(table: Any) -> list[list[str]]:
    """Return the texts of the rows, with those of spanning cells at each position."""
    rows: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}
    for row in table.xpath(_ROWS):
        texts: list[str] = []
        for cell in row.iterchildren("td", "th"):
            _fill(texts, below)
            text, height = _text(cell), _span(cell, "rowspan")
            for _ in range(_span(cell, "colspan")):
                if height > 1:
                    below[len(texts)] = height - 1, text
                texts.append(text)
        _fill(texts, below)
        rows.append(texts)
    return rows


def _fill(texts: list[str], below: dict[int, tuple[int, str]]) -> None:
    while (place := len(texts)) in below:
        remaining, text = below.pop(place)
        texts.append(text)
        if remaining > 1:
            below[place] = remaining - 1, text


def _span(cell: Any, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return min(max(int(value), 1), _MAX_SPAN) if value.isascii() and value.isdecimal() else 1


def _text(element: Any) -> str:
    return " ".join(" ".join(element.itertext()).split())
