"""The links of a page: in its text, frames, image maps and redirects."""

import re
from collections.abc import Iterator

from lxml import etree
from lxml import html as lxml_html

from masstimes.crawl.addresses import normalise_address

#: The largest length of a link's text.
_MAX_TEXT = 200
#: The number of characters of a redirect in a page that are read.
_MAX_REFRESH = 2000
_REFRESH_TARGET = re.compile(r"^\s*[\d.]*\s*[;,]\s*(?:url\s*=)?\s*['\"]?([^'\"]+)", re.IGNORECASE)
_LINK_TAGS = ("a", "area", "frame", "iframe", "meta", "base")


def find_links(text: str, url: str) -> list[tuple[str, str]]:
    """Return addresses and link texts in the order of the page, each address once.

    ``url`` is the address of the page.
    """
    try:
        parser = lxml_html.HTMLParser(encoding="utf-8")
        root = lxml_html.document_fromstring(text.encode(errors="replace"), parser=parser)
    except (etree.LxmlError, ValueError):  # the page is empty
        return []
    texts: dict[str, str] = {}
    for link, link_text, base in _iter_raw_links(root, url):
        target = normalise_address(link, base)
        if target is not None and not texts.get(target):
            texts[target] = link_text
    return list(texts.items())


def _iter_raw_links(root: lxml_html.HtmlElement, url: str) -> Iterator[tuple[str, str, str]]:
    """Yield (link, text, base address)."""
    base = url
    for element in root.iter(_LINK_TAGS):
        match element.tag:
            case "base":
                base = normalise_address(element.get("href") or "", url) or base
            case "meta":
                if (element.get("http-equiv") or "").lower() == "refresh":
                    refresh = _REFRESH_TARGET.search((element.get("content") or "")[:_MAX_REFRESH])
                    if refresh is not None:
                        yield refresh[1], "", base
            case "frame" | "iframe":
                if link := element.get("src"):
                    yield link, element.get("title") or "", base
            case _:
                if link := element.get("href"):
                    yield link, _get_link_text(element), base


def _get_link_text(element: lxml_html.HtmlElement) -> str:
    """Return the text of a link, or of its image."""
    text = " ".join("".join(element.itertext()).split())
    if not text:
        texts = [picture.get("alt") or "" for picture in element.iter("img")]
        text = " ".join([*texts, element.get("title") or "", element.get("alt") or ""]).strip()
    return text[:_MAX_TEXT]
