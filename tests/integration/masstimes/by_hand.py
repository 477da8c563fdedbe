"""Sites of parishes that people wrote by hand, in folders: their pages, and what is true of them.

The words of the rules were found on those in ``tuned``; nothing was changed after a look at what is
missed in ``kept``. Sites in ``styles`` write days, seasons and times in other ways; what they
missed at first was mended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import html as lxml_html

FOLDER = Path(__file__).with_name("parishes")


def truth(kind: str) -> Path:
    """Return the file that says which times are masses, as `mt-measure` takes it."""
    return FOLDER / kind / "truth.json"


def crawled(kind: str) -> Iterator[dict[str, Any]]:
    """Yield the pages of all sites of a kind, as `mt-crawl` writes them."""
    for site, told in json.loads(truth(kind).read_text())["sites"].items():
        root, start = FOLDER / kind / site, f"http://{told['domain']}/"
        pages = {path: path.read_text() for path in sorted(root.rglob("*.*"))}
        links = _links(pages[root / "index.html"])
        for path, html in pages.items():
            part = str(path.relative_to(root)).removesuffix("index.html")
            yield {
                "url": f"{start}{part}",
                "previous_url": start if part else "",
                "start_url": start,
                "domain": told["domain"],
                "html": html,
                "link_text": links.get(part.rstrip("/"), ""),
            }


def _links(html: str) -> dict[str, str]:
    """Return the texts of the links of a start page, by where they lead."""
    found = lxml_html.document_fromstring(html.encode(), parser=_PARSER).iter("a")
    return {
        link.get("href", "").strip("/"): " ".join(link.text_content().split()) for link in found
    }


_PARSER = lxml_html.HTMLParser(encoding="utf-8")
