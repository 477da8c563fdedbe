"""The spider of one host, which sends the requests of its crawls with Scrapy."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, Self

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
    StopDownload,
)
from scrapy.http import Headers, Response

from masstimes.binary import LOOKED_AT, is_binary
from masstimes.crawl.robots_requests import is_for_robots
from masstimes.crawl.site import FetchResult, SiteCrawl
from masstimes.crawl.visits import Visit

#: The reasons of failures, by Scrapy's exceptions.
_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (DownloadTimeoutError, "timeout"),
    (CannotResolveHostError, "no-such-host"),
    (DownloadConnectionRefusedError, "refused"),
    (DownloadCancelledError, "too-large"),
    (ResponseDataLossError, "broken-off"),
    (DownloadFailedError, "failed"),
)
_HEADERS = ("content-type", "location", "etag", "last-modified")


class ParishSpider(Spider):
    """A spider with one request at a time, for the parishes of a host.

    The next request depends on the answer before. It waits in the downloader until the site may be
    asked again. Scrapy hides errors of a spider: they are added to ``errors``.
    """

    name = "parish"

    def __init__(
        self,
        crawls: Iterable[Callable[[], SiteCrawl]],
        on_done: Callable[[SiteCrawl], None],
        errors: list[Exception],
        **keywords: Any,
    ) -> None:
        super().__init__(**keywords)
        self._crawls, self._on_done, self._errors = crawls, on_done, errors
        self._first_bytes = b""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Return a spider that is connected to the signals of a download."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.on_headers, signal=signals.headers_received)
        crawler.signals.connect(spider.on_bytes, signal=signals.bytes_received)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Run the crawls one after another, without Scrapy's scheduler."""
        try:
            for make_crawl in self._crawls:
                crawl = make_crawl()
                await crawl.run(self._fetch)
                self._on_done(crawl)
        except Exception as error:  # Scrapy would only log it: the caller raises it
            self._errors.append(error)
        return
        yield

    def on_headers(self, headers: Headers, **_: Any) -> None:
        """Reset the first bytes of a download.

        Compressed bodies are not checked before they are unpacked.
        """
        self._first_bytes = b"" if headers.get("Content-Encoding") is None else bytes(LOOKED_AT)

    def on_bytes(self, data: bytes, request: Request, **_: Any) -> None:
        """Stop receiving a page that is binary."""
        if is_for_robots(request):
            return
        if len(self._first_bytes) < LOOKED_AT:
            self._first_bytes += data[: LOOKED_AT - len(self._first_bytes)]
            if len(self._first_bytes) == LOOKED_AT and is_binary(self._first_bytes):
                request.meta["is_binary"] = True
                raise StopDownload(fail=False)

    async def _fetch(self, visit: Visit, headers: Mapping[str, str]) -> FetchResult:
        meta = {"dont_redirect": True, "handle_httpstatus_all": True}
        request = Request(visit.url, headers=dict(headers), meta=meta, dont_filter=True)
        try:
            response = await self.crawler.engine.download_async(request)
        except IgnoreRequest as error:
            return FetchResult(reason="robots" if "robots" in str(error) else "too-large")
        except Exception as error:  # a site may cause any error
            return FetchResult(reason=_reason(error))
        return _make_result(response)


def _reason(error: Exception) -> str:
    return next((text for kind, text in _REASONS if isinstance(error, kind)), "failed")


def _make_result(response: Response) -> FetchResult:
    headers = {
        name: value.decode("latin-1")
        for name in _HEADERS
        if (value := response.headers.get(name)) is not None
    }
    return FetchResult(
        status=response.status,
        body=response.body,
        headers=headers,
        is_binary=response.meta.get("is_binary", False),
    )
