"""Conversion of HTML pages to the text that people read."""

import re

import html2text

from masstimes.cells import ROW, TABLE, arrange_rows, cell_mark
from masstimes.cpu_time import limit_cpu_time
from masstimes.hours import find_hour_spans, is_explicit

#: Processor time for a page in seconds, tens of times what real pages take.
_SECONDS, _SECONDS_A_MIB = 5.0, 10.0
_TAG = re.compile(r"<[^<>]{0,2000}>")
#: Invisible characters, which would split words and times.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
#: Tags that raise minutes, as in ``7<sup>00</sup>`` and ``7<u>00</u>``.
_RAISING = frozenset({"sup", "small", "u"})
_RAISED_STYLE = re.compile(r"vertical-align:\s*(?:super|top|text-top)", re.IGNORECASE)
_MINUTES = re.compile(r"\s*[0-5][0-9oO]|\s*[oO]{2}")
_FOOTNOTE = re.compile(r"\(?[1-9]\)?")
_WORD = re.compile(r"[^\W\d_]{3}")
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

    def handle_tag(self, tag: str, attrs: dict[str, str | None], start: bool) -> None:
        """Mark tables, rows and cells, and remember tags that raise minutes."""
        if tag in {"table", "tr"}:
            self.o(TABLE if tag == "table" else ROW)
        elif tag in {"td", "th"} and start:
            self.o(cell_mark(attrs))
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
        """Write raised digits as such: minutes, as in ``7<sup>00</sup>``, and footnotes."""
        plain = data.rstrip()
        if self._raised and (_MINUTES.fullmatch(plain) or _FOOTNOTE.fullmatch(plain)):
            data = plain.strip("()").translate(_RAISED)
        super().handle_data(data, entity_char)


def page_text(html: str) -> str:
    """Return the text of a page. This function never raises.

    Other content than HTML is returned as text. HTML that cannot be read in time only loses its
    tags.
    """
    try:
        with limit_cpu_time(_SECONDS + _SECONDS_A_MIB * len(html) / 2**20):
            text = arrange_rows(_INVISIBLE.sub("", _Text().handle(html)))
    except Exception:  # a page may cause any error
        text = _TAG.sub("\n", html)
    return _INVISIBLE.sub("", text)
