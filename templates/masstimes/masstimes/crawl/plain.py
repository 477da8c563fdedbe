"""`mt-plain-crawl` makes the same crawl with unmodified Scrapy, as a baseline for `mt-crawl`.

It uses Scrapy's own AutoThrottle with the same numbers, and its spiders, scheduler, filters and
output.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from masstimes.crawl.limits import Limits
from masstimes.crawl.pace import Pace
from masstimes.crawl.parishes import ParishSite, read_parishes
from sluice.packs.programs import Parser, UsageError, finite, positive, run_command

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    limits, pace = Limits(), Pace()
    return {
        "USER_AGENT": f"plain-scrapy (+{arguments.contact})",
        "ROBOTSTXT_OBEY": True,
        "COOKIES_ENABLED": False,
        "DEPTH_LIMIT": limits.depth,
        "DOWNLOAD_TIMEOUT": limits.timeout,
        "DOWNLOAD_MAXSIZE": limits.page,
        "DOWNLOAD_DELAY_JITTER": 0,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "AUTOTHROTTLE_ENABLED": True,
        "AUTOTHROTTLE_TARGET_CONCURRENCY": pace.concurrency / arguments.delays,
        "AUTOTHROTTLE_START_DELAY": pace.first * arguments.delays,
        "AUTOTHROTTLE_MAX_DELAY": pace.max_delay * arguments.delays,
        "FEEDS": {str(arguments.out / "%(parish)s.jsonl"): {"format": "jsonlines"}},
        "LOG_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
    }


def _spider() -> type[Spider]:
    from scrapy import Request, Spider  # noqa: PLC0415 - a second of imports
    from scrapy.http import TextResponse  # noqa: PLC0415 - as above
    from scrapy.linkextractors import LinkExtractor  # noqa: PLC0415 - as above

    class PlainSpider(Spider):
        name = "plain"

        def __init__(self, site: ParishSite, **keywords: Any) -> None:
            super().__init__(**keywords)
            self.parish, self._site = site.id, site
            tags = ("a", "area", "frame", "iframe")
            self._links = LinkExtractor(
                allow_domains=[urlsplit(site.start).netloc], tags=tags, attrs=("href", "src")
            )

        async def start(self) -> AsyncIterator[Any]:
            yield Request(self._site.start)

        def parse(self, response: Response, **_: Any) -> Iterator[dict[str, str] | Request]:
            if not isinstance(response, TextResponse):
                return
            yield {
                "url": response.url,
                "previous_url": response.meta.get("previous_url", ""),
                "start_url": self._site.start,
                "domain": self._site.domain,
                "html": response.text,
                "link_text": response.meta.get("link_text", ""),
            }
            for link in self._links.extract_links(response):
                meta = {"previous_url": response.url, "link_text": link.text}
                yield Request(link.url, meta=meta)

    return PlainSpider


def _work(arguments: argparse.Namespace) -> None:
    parishes = read_parishes(arguments.parishes)
    if remote := [each for each in parishes if not each.is_loopback]:
        raise UsageError(f"{remote[0].site} is not on this machine, and this is for trials alone")
    if arguments.delays <= 0:
        raise UsageError("delays are above 0")
    arguments.out.mkdir(parents=True, exist_ok=True)
    from scrapy.crawler import AsyncCrawlerRunner  # noqa: PLC0415 - a second of imports

    from masstimes.crawl.running import run  # noqa: PLC0415 - as above

    async def main() -> None:
        runner, spider, sites = (
            AsyncCrawlerRunner(_settings(arguments)),
            _spider(),
            iter(parishes),
        )

        async def worker() -> None:
            for site in sites:
                await runner.crawl(spider, site=site)

        await asyncio.gather(*(worker() for _ in range(arguments.at_once)))

    run(main)


def plain_main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-plain-crawl` and return its exit code."""
    parser = Parser(prog="mt-plain-crawl", description="Crawl a small web with plain Scrapy.")
    add = parser.add_argument
    add(
        "parishes",
        nargs="+",
        type=Path,
        metavar="FILE",
        help='JSON file with one parish or a list of parishes, each as {"id", "name", "site"}',
    )
    add(
        "--out",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="Output folder for ID.jsonl (the pages) of each parish",
    )
    add(
        "--contact",
        default="trial",
        metavar="ADDRESS",
        help="Contact to name in the user agent (default: %(default)s)",
    )
    add(
        "--at-once",
        type=positive,
        default=100,
        metavar="SITES",
        help="Number of sites to crawl at the same time (default: %(default)s)",
    )
    add(
        "--delays",
        type=finite,
        default=1.0,
        metavar="FACTOR",
        help="Multiply all delays between requests by this factor (default: 1)",
    )
    return run_command(parser, _work, argv)
