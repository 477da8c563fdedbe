"""The links of a page: in its text, frames, image maps and redirects."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree
from lxml import html as lxml_html

from masstimes.crawl.addresses import address

#: The largest length of a link's text.
_TEXT = 200
#: The number of characters of a redirect in a page that are read.
_SENDING = 2000
_SENDS_TO = re.compile(r"^\s*[\d.]*\s*[;,]\s*(?:url\s*=)?\s*['\"]?([^'\"]+)", re.IGNORECASE)
_FOLLOWED = ("a", "area", "frame", "iframe", "meta", "base")


def links(text: str, url: str) -> list[tuple[str, str]]:
    """Return addresses and link texts in the order of the page, each address once.

    ``url`` is the address of the page.
    """
    try:
        parser = lxml_html.HTMLParser(encoding="utf-8")
        root = lxml_html.document_fromstring(text.encode(errors="replace"), parser=parser)
    except (etree.LxmlError, ValueError):  # the page is empty
        return []
    found: dict[str, str] = {}
    for link, said, base in _raw(root, url):
        there = address(link, base)
        if there is not None and not found.get(there):
            found[there] = said
    return list(found.items())


def _raw(root: lxml_html.HtmlElement, url: str) -> Iterator[tuple[str, str, str]]:
    """Yield (link, text, base address)."""
    base = url
    for element in root.iter(_FOLLOWED):
        match element.tag:
            case "base":
                base = address(element.get("href") or "", url) or base
            case "meta":
                if (element.get("http-equiv") or "").lower() == "refresh":
                    sends = _SENDS_TO.search((element.get("content") or "")[:_SENDING])
                    if sends is not None:
                        yield sends[1], "", base
            case "frame" | "iframe":
                if link := element.get("src"):
                    yield link, element.get("title") or "", base
            case _:
                if link := element.get("href"):
                    yield link, _said(element), base


def _said(element: lxml_html.HtmlElement) -> str:
    """Return the text of a link, or of its image."""
    text = " ".join("".join(element.itertext()).split())
    if not text:
        texts = [picture.get("alt") or "" for picture in element.iter("img")]
        text = " ".join([*texts, element.get("title") or "", element.get("alt") or ""]).strip()
    return text[:_TEXT]
