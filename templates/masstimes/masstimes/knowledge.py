"""The right answers to candidates: from the truth of a small web, or from generated gold items."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from masstimes.annotators import KnownAnswers, MarkedText
from masstimes.classifier.examples import read_candidates
from masstimes.crawl.decoding import decode_page
from masstimes.hours import find_candidates
from masstimes.human_tasks.items_command import make_item
from masstimes.small_web.web import SmallWeb
from masstimes.text import page_text

#: The web of the gold items, which is not crawled.
_GOLD_SITES, _GOLD_SEED = 20, 4711


def get_marked_text(line: dict[str, Any]) -> MarkedText:
    """Return what an annotator sees of a candidate or of its item."""
    return line["context"], line["start"], line["end"]


def read_true_answers(truth: Path, paths: Iterable[Path]) -> KnownAnswers:
    """Return the right answers to the candidates in files, by the truth of the small web."""
    masses = {
        f"{url}#{mass['candidate']}"
        for url, page_masses in json.loads(truth.read_bytes())["pages"].items()
        for mass in page_masses
    }
    return {
        get_marked_text(line): line["id"] in masses
        for path in paths
        for line in read_candidates(path)
    }


def make_gold_items(number: int, *, seed: int) -> list[dict[str, Any]]:
    """Return up to ``number`` distinct items with their answers, as many yes as no if possible."""
    by_answer: dict[str, dict[MarkedText, dict[str, Any]]] = {"yes": {}, "no": {}}
    for line in _read_gold_web():
        by_answer[line["answer"]][get_marked_text(line)] = line
    random = Random(seed)  # noqa: S311 - no secret
    chosen = [
        line
        for lines in by_answer.values()
        for line in random.sample(list(lines.values()), min(number // 2, len(lines)))
    ]
    random.shuffle(chosen)
    return chosen


def _read_gold_web() -> Iterator[dict[str, Any]]:
    web = SmallWeb(_GOLD_SITES, _GOLD_SEED, kind="seen", traps=False)
    for host, site in web.sites.items():
        for path, page in site.pages.items():
            if not page.masses:
                continue
            masses = {mass.candidate for mass in page.masses}
            text = page_text(decode_page(page.body, page.content_type))
            for number, candidate in enumerate(find_candidates(text)):
                line = {
                    "id": f"http://{host}{path}#{number}",
                    "domain": host,
                    "url": f"http://{host}{path}",
                    "hour": candidate.hour,
                    "time": candidate.clock,
                    "context": candidate.context,
                    "start": candidate.start,
                    "end": candidate.end,
                }
                yield {**make_item(line), "answer": "yes" if number in masses else "no"}
