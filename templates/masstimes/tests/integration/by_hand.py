"""Handwritten sites of parishes in folders, with the mass times that are true.

The rules were tuned on the sites in ``tuned``. No rule was changed because of a miss in ``kept`` or
``held-out``. Sites in ``styles`` write days, seasons and times in other ways, sites in ``mixed``
have many other times beside the masses, and ``cells`` has tables and columns. Rules were changed
for what they missed in these three.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from masstimes.crawl.decoding import decode_page
from masstimes.crawl.links import find_links

FOLDER = Path(__file__).with_name("parishes")


def get_truth_file(kind: str) -> Path:
    """Return the file that says which times are masses, as `mt-measure` takes it."""
    return FOLDER / kind / "truth.json"


def list_crawled_pages(kind: str) -> Iterator[dict[str, Any]]:
    """Yield the pages of all sites of a kind, as `mt-crawl` writes them."""
    for site, facts in json.loads(get_truth_file(kind).read_text())["sites"].items():
        root, start = FOLDER / kind / site, f"http://{facts['domain']}/"
        pages = {
            start + str(path.relative_to(root)).removesuffix("index.html"): path.read_bytes()
            for path in sorted(root.rglob("*.*"))
        }
        texts: dict[str, str] = {}
        for url in sorted(pages, key=lambda url: url != start):
            for target, text in find_links(decode_page(pages[url]), url):
                texts.setdefault(target, text)
        for url, body in pages.items():
            yield {
                "url": url,
                "previous_url": "" if url == start else start,
                "start_url": start,
                "domain": facts["domain"],
                "html": decode_page(body),
                "link_text": "" if url == start else texts.get(url, ""),
            }
