"""Conversion of HTML pages to the text that people read."""

import re
from itertools import pairwise

import html2text

from masstimes.cpu_time import limit_cpu_time
from masstimes.folding import fold
from masstimes.hours import find_hour_spans, is_explicit
from masstimes.reading.days import UNKNOWN, find_days

#: The text before each cell of a table.
CELL = "\t"
#: The text for a break in a cell, until all of the cell is known.
_BREAK = "\v"
#: Processor time for a page in seconds, tens of times what real pages take.
_SECONDS, _SECONDS_A_MIB = 5.0, 10.0
_TAG = re.compile(r"<[^<>]{0,2000}>")
#: Invisible characters, which would split words and times.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
#: Tags that raise minutes, as in ``7<sup>00</sup>`` and ``7<u>00</u>``.
_RAISING = frozenset({"sup", "small", "u"})
_RAISED_STYLE = re.compile(r"vertical-align:\s*(?:super|top|text-top)", re.IGNORECASE)
_MINUTES = re.compile(r"\s*[0-5][0-9oO]|\s*[oO]{2}")
_WORD = re.compile(r"[^\W\d_]{3}")
_BRACKETS = re.compile(r"\([^()\n]*\)")
_RAISED = str.maketrans("0123456789oO", "⁰¹²³⁴⁵⁶⁷⁸⁹⁰⁰")


class _Text(html2text.HTML2Text):
    """Markdown without links, tables, emphasis and list marks.

    Texts of images are kept if they have times.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ignore_links = self.ignore_images = True
        self.ignore_tables = self.ignore_emphasis = True
        self.ul_item_mark = ""
        self.unicode_snob = True
        self.body_width = 0  # do not wrap lines
        self._raised: list[str] = []
        self._is_in_cell = False

    def handle_tag(self, tag: str, attrs: dict[str, str | None], start: bool) -> None:
        """Separate cells, and remember tags that raise minutes."""
        if tag in {"td", "th", "tr", "table"}:
            self._is_in_cell = start and tag in {"td", "th"}
        if self._is_in_cell and tag in {"td", "th"}:
            self.o(CELL)
        if self._is_in_cell and start and tag == "br":
            self.o(_BREAK)
            return
        if start and tag == "img":
            self._show_times(attrs.get("alt") or "")
        if start and (tag in _RAISING or _RAISED_STYLE.search(attrs.get("style") or "")):
            self._raised.append(tag)
        elif not start and self._raised[-1:] == [tag]:
            self._raised.pop()
        super().handle_tag("ul" if tag == "ol" else tag, attrs, start)

    def _show_times(self, alt: str) -> None:
        """Write the text of an image with words and times, such as a scanned table."""
        if _WORD.search(alt) and any(
            is_explicit(alt[start:end]) for start, end in find_hour_spans(alt)
        ):
            self.p()
            self.o(alt)
            self.p()

    def handle_data(self, data: str, entity_char: bool = False) -> None:
        """Write raised minutes as raised digits, so that ``7<sup>00</sup>`` stays a time."""
        if self._raised and _MINUTES.fullmatch(data.rstrip()):
            data = data.translate(_RAISED)
        super().handle_data(data, entity_char)


def page_text(html: str) -> str:
    """Return the text of a page. This function never raises.

    Other content than HTML is returned as text. HTML that cannot be read in time only loses its
    tags.
    """
    try:
        with limit_cpu_time(_SECONDS + _SECONDS_A_MIB * len(html) / 2**20):
            text = _replace_breaks(_INVISIBLE.sub("", _Text().handle(html)))
    except Exception:  # a page may cause any error
        text = _TAG.sub("\n", html)
    return _INVISIBLE.sub("", text)


def _replace_breaks(text: str) -> str:
    """Return the text with commas in place of the breaks between hours of a cell.

    The next cells thus stay in the same row (``7:30<br>9:30``). Other breaks begin new lines, as in
    the cells of a page's layout, whose lines name their days or do not begin with hours.
    """
    pieces: list[str] = []
    for cell in text.split(CELL):
        lines = cell.split(_BREAK)
        pieces += [CELL, lines[0]]
        for before, line in pairwise(lines):
            if _is_hour(before.rpartition("\n")[2]) and _is_hour(line.partition("\n")[0]):
                pieces[-1] = pieces[-1].rstrip()
                pieces += [", ", line.lstrip()]
            else:
                pieces += ["\n", line]
    return "".join(pieces[1:])


def _is_hour(part: str) -> bool:
    """Return whether a part of a cell begins with an hour, and names no day but in brackets."""
    part = part.strip()
    start, end = next(find_hour_spans(part), (1, 1))
    return (
        start == 0
        and is_explicit(part[:end])
        and find_days(fold(_BRACKETS.sub("", part))) == UNKNOWN
    )
