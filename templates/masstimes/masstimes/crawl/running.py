"""Many spiders in one process."""

import asyncio
import logging
import resource
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, cast

from scrapy.crawler import AsyncCrawlerRunner
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.reactor import install_reactor
from twisted.internet.defer import AlreadyCalledError
from twisted.logger import STDLibLogObserver, globalLogBeginner

from masstimes.crawl.limits import Limits
from masstimes.crawl.pace import Pace
from masstimes.crawl.pacing import ScaledPace
from masstimes.crawl.site import SiteCrawl
from masstimes.crawl.spider import ParishSpider

_MIDDLEWARES = "scrapy.downloadermiddlewares"
#: Only the parts of Scrapy that the crawl needs, because each spider has its own.
_BASE_SETTINGS: dict[str, Any] = {
    "EXTENSIONS_BASE": {},
    "EXTENSIONS": {"masstimes.crawl.pacing.Throttle": 0},
    "SPIDER_MIDDLEWARES_BASE": {},
    "DOWNLOADER_MIDDLEWARES_BASE": {
        "masstimes.crawl.robots.ObeyRobots": 100,
        f"{_MIDDLEWARES}.downloadtimeout.DownloadTimeoutMiddleware": 350,
        f"{_MIDDLEWARES}.defaultheaders.DefaultHeadersMiddleware": 400,
        f"{_MIDDLEWARES}.useragent.UserAgentMiddleware": 500,
        f"{_MIDDLEWARES}.retry.RetryMiddleware": 550,
        f"{_MIDDLEWARES}.httpcompression.HttpCompressionMiddleware": 590,
        "masstimes.crawl.robots_requests.RobotsRequests": 600,
    },
    "ROBOTSTXT_PARSER": "masstimes.crawl.robots.FirstRules",
    "DOWNLOADER": "masstimes.crawl.one_slot.OneSlot",
    "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
    "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
    "STATS_DUMP": False,
    "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
}
#: How often a request is repeated after answers such as 503.
_REPEATS = 2


def make_settings(limits: Limits, user_agent: str, *, delays: float) -> Settings:
    """Return Scrapy's settings. ``delays`` is a factor for all delays."""
    return Settings(
        {
            **_BASE_SETTINGS,
            "USER_AGENT": user_agent,
            "DEFAULT_REQUEST_HEADERS": {
                "Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5",
                "Accept-Language": "pl",
            },
            "ROBOTSTXT_OBEY": True,
            "RETRY_TIMES": _REPEATS,
            "REDIRECT_MAX_TIMES": limits.redirects,
            "DOWNLOAD_TIMEOUT": limits.timeout,
            "DOWNLOAD_MAXSIZE": limits.page,
            "DOWNLOAD_WARNSIZE": 0,
            "DOWNLOAD_DELAY_JITTER": 0,
            "CONCURRENT_REQUESTS": 1,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
            "AUTOTHROTTLE_ENABLED": True,
            "PACE": ScaledPace(Pace(), delays),
        }
    )


def run(main: Callable[[], Awaitable[None]]) -> bool:
    """Run ``main`` in Scrapy's event loop, which a process can start only once.

    Return False if a signal has ended it. Errors of ``main`` are raised.
    """
    for name in ("scrapy", "twisted"):  # the summaries have the errors of sites
        logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.getLogger("twisted").addFilter(_is_relevant)
    globalLogBeginner.beginLoggingTo(
        [cast(Any, STDLibLogObserver("twisted"))], redirectStandardIO=False
    )
    _raise_file_limit()
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import reactor as installed  # noqa: PLC0415 - there is one from here on

    reactor = cast(Any, installed)  # a module, by its types
    ended: list[BaseException | None] = []

    async def run_main() -> None:
        try:
            await main()
            ended.append(None)
        except Exception as error:  # raised below
            ended.append(error)
        finally:
            if reactor.running:
                reactor.stop()

    reactor.callWhenRunning(lambda: deferred_from_coro(run_main()))
    reactor.run()
    if ended and ended[0] is not None:
        raise ended[0]
    return bool(ended)


def _is_relevant(record: logging.LogRecord) -> bool:
    """Return whether a log record matters.

    On a busy machine, Scrapy closes a connection that has just been closed.
    """
    return not (record.exc_info and record.exc_info[0] is AlreadyCalledError)


def _raise_file_limit() -> None:
    """Raise the limit of open files, because each spider has a connection."""
    _, max_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max_files, max_files))


async def crawl_all(
    hosts: Sequence[Sequence[Callable[[], SiteCrawl]]],
    on_done: Callable[[SiteCrawl], None],
    *,
    at_once: int,
    settings: Settings,
) -> None:
    """Crawl ``at_once`` hosts at a time, and call ``on_done`` for each crawl that ends.

    The crawls of a host follow each other, with one robots.txt and one delay.
    """
    runner = AsyncCrawlerRunner(settings)
    waiting = iter(hosts)

    async def worker() -> None:
        for crawls in waiting:
            errors: list[Exception] = []
            await runner.crawl(ParishSpider, crawls=crawls, on_done=on_done, errors=errors)
            if errors:
                raise errors[0]

    workers = [asyncio.create_task(worker()) for _ in range(min(at_once, len(hosts)))]
    await asyncio.gather(*workers)
