"""The commands `mt-text`, `mt-filter`, `mt-hours` and `mt-rules`.

`mt-text` converts pages to text. `mt-filter` keeps the pages that may have mass times. `mt-hours`
finds candidates for times on them. `mt-rules` finds times under headings. Each command reads and
writes JSON Lines.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from masstimes.hours import AROUND, find_candidates, find_hour_spans
from masstimes.page_filter import has_order, is_mass_page, is_news
from masstimes.pages import CRAWLED, Line, transform_lines
from masstimes.reading.lines import find_readings
from masstimes.reading.words import Topic
from masstimes.rules import make_order_line
from masstimes.text import page_text
from sluice.packs.programs import Parser, not_negative, run_command
from sluice.warm import serve

_TEXT = tuple("text" if name == "html" else name for name in CRAWLED)

_Change = Callable[[argparse.Namespace, dict[str, Any]], Iterable[Line]]


def _convert_to_text(_: argparse.Namespace, page: dict[str, Any]) -> Iterator[Line]:
    html = page.pop("html")
    yield {**page, "text": page_text(html)}


def _keep_mass_pages(_: argparse.Namespace, page: dict[str, Any]) -> Iterator[Line]:
    url, link_text = page["url"], page["link_text"]
    if is_mass_page(url, link_text) or (
        not is_news(url, link_text)
        and has_order(_get_text(page), is_start=url == page.get("start_url"))
    ):
        yield page


def _get_text(page: dict[str, Any]) -> str:
    """Return the text of a page, which may have its HTML or its text."""
    text = page.get("text")
    return text if isinstance(text, str) else page_text(str(page.get("html") or ""))


def _find_hours(arguments: argparse.Namespace, page: dict[str, Any]) -> Iterator[Line]:
    text = page["text"]
    default = Topic.MASS if is_mass_page(page["url"], page["link_text"]) else None
    topics = {reading.start: reading.topic for reading in find_readings(text, topic=default)}
    places = (start for start, _ in find_hour_spans(text))
    for number, (candidate, place) in enumerate(
        zip(find_candidates(text, around=arguments.around), places, strict=True)
    ):
        yield {
            "id": f"{page['url']}#{number}",
            "domain": page["domain"],
            "url": page["url"],
            "hour": candidate.hour,
            "time": candidate.clock,
            "context": candidate.context,
            "start": candidate.start,
            "end": candidate.end,
            "topic": topics.get(place),
        }


def _find_orders(_: argparse.Namespace, page: dict[str, Any]) -> Iterator[Line]:
    suggests_masses = is_mass_page(page["url"], page["link_text"])
    if (line := make_order_line(page, is_mass_page=suggests_masses)) is not None:
        yield line


def _work(change: _Change, fields: Sequence[str], arguments: argparse.Namespace) -> None:
    transform_lines(arguments.pages, arguments.out, partial(change, arguments), fields=fields)


def _parser(name: str, description: str, *, pages: str, out: str) -> Parser:
    parser = Parser(prog=name, description=description)
    parser.add_argument("pages", type=Path, metavar="FILE", help=pages)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help=out)
    return parser


def text_main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-text` and return its exit code."""
    parser = _parser(
        "mt-text",
        "Convert the HTML of pages to text.",
        pages="Pages in JSON Lines that mt-crawl wrote",
        out="JSON Lines file to write the pages as text to",
    )
    return run_command(parser, partial(_work, _convert_to_text, CRAWLED), argv)


def filter_main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-filter` and return its exit code."""
    parser = _parser(
        "mt-filter",
        "Select the pages that may have mass times, by their address, link and text.",
        pages="Pages in JSON Lines, as HTML (from mt-crawl) or as text (from mt-text)",
        out="JSON Lines file to write the selected pages to",
    )
    return run_command(parser, partial(_work, _keep_mass_pages, ("url", "link_text")), argv)


def hours_main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-hours` and return its exit code."""
    parser = _parser(
        "mt-hours",
        "Find candidates for mass times in the text of pages.",
        pages="Pages as text in JSON Lines that mt-text or mt-filter wrote",
        out="JSON Lines file to write the candidates to",
    )
    parser.add_argument(
        "--around",
        type=not_negative,
        default=AROUND,
        metavar="CHARACTERS",
        help=f"Number of characters of context to write on each side of a time (default: {AROUND})",
    )
    return run_command(parser, partial(_work, _find_hours, _TEXT), argv)


def rules_main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-rules` and return its exit code."""
    parser = _parser(
        "mt-rules",
        "Find mass schedules: times under headings for Sundays and weekdays.",
        pages="Pages as text in JSON Lines that mt-text or mt-filter wrote",
        out="JSON Lines file to write the mass schedules to",
    )
    return run_command(parser, partial(_work, _find_orders, _TEXT), argv)


def text_command() -> None:
    """Run `mt-text` once, or as a warm worker."""
    serve(text_main)


def filter_command() -> None:
    """Run `mt-filter` once, or as a warm worker."""
    serve(filter_main)


def hours_command() -> None:
    """Run `mt-hours` once, or as a warm worker."""
    serve(hours_main)


def rules_command() -> None:
    """Run `mt-rules` once, or as a warm worker."""
    serve(rules_main)
