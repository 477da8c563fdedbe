"""Pages as people read them: their text, without what makes it look."""

from __future__ import annotations

import re

import html2text

from masstimes.spending import at_most

#: Of a core, for a page: tens of times what real ones take.
_SECONDS, _SECONDS_A_MIB = 5.0, 10.0
_TAG = re.compile(r"<[^<>]{0,2000}>")


class _Text(html2text.HTML2Text):
    """As Markdown, without links, tables, images, emphasis and the marks of lists."""

    def __init__(self) -> None:
        super().__init__()
        self.ignore_links = self.ignore_images = True
        self.ignore_tables = self.ignore_emphasis = True
        self.ul_item_mark = ""
        self.unicode_snob = True
        self.body_width = 0  # lines end where they ended

    def handle_tag(self, tag: str, attrs: dict[str, str | None], start: bool) -> None:
        if start and tag in {"td", "th"}:  # cells stay apart
            self.o(" ")
        super().handle_tag("ul" if tag == "ol" else tag, attrs, start)


def page_text(html: str) -> str:
    """Never raises: what is no HTML is text. Without order where that cannot be read, or not in a
    reasonable time."""
    try:
        with at_most(_SECONDS + _SECONDS_A_MIB * len(html) / 2**20):
            return _Text().handle(html)
    except Exception:  # a page may have anything in it
        return _TAG.sub("\n", html)
