"""Requests for robots.txt, which read only its beginning and follow redirects to other hosts."""

from __future__ import annotations

import zlib

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http import Response
from scrapy.signals import bytes_received

from masstimes.crawl.addresses import is_local
from masstimes.crawl.robots import MAX_ROBOTS_BYTES

#: The window bits of zlib that detect gzip and deflate by their first bytes.
_ANY_WRAPPER = 47
_PACKED = frozenset({b"gzip", b"x-gzip", b"deflate"})


class RobotsRequests(RedirectMiddleware):
    """A middleware for Scrapy's own requests of robots.txt (RFC 9309, 2.3.1.2 and 2.5)."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler.settings)
        self.crawler = crawler
        crawler.signals.connect(self._limit_size, signal=bytes_received)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsRequests:
        """Return the middleware of a crawler."""
        return cls(crawler)

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Request uncompressed text without a limit.

        `_limit_size` ends a download that is too long.
        """
        if is_for_robots(request):
            request.meta["download_maxsize"] = 0
            request.headers["Accept-Encoding"] = "identity"

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Follow a redirect, and unpack only as much as is read.

        A site of the internet cannot redirect into the network of this machine.

        Raises:
            IgnoreRequest: There are too many redirects, or one leads into this network.
        """
        if not is_for_robots(request):
            return response
        result = super().process_response(request, response)
        if isinstance(result, Response):
            return _unpack(result)
        if is_local(result.url) and not is_local(request.url):
            raise IgnoreRequest("robots.txt leads into the network of this machine")
        return result

    def _limit_size(self, data: bytes, request: Request) -> None:
        if not is_for_robots(request):
            return
        received = request.meta["robots_received"] = request.meta.get("robots_received", 0) + len(
            data
        )
        if received > MAX_ROBOTS_BYTES:
            raise StopDownload(fail=False)


def is_for_robots(request: Request) -> bool:
    """Return whether this is Scrapy's request for a robots.txt."""
    return bool(request.meta.get("dont_obey_robotstxt"))


def _unpack(response: Response) -> Response:
    """Return a robots.txt as text, also from servers that compress it unasked."""
    packed = response.headers.get("Content-Encoding") or b""
    if packed.strip().lower() not in _PACKED:
        return response
    del response.headers["Content-Encoding"]
    try:
        return response.replace(
            body=zlib.decompressobj(_ANY_WRAPPER).decompress(response.body, MAX_ROBOTS_BYTES + 1)
        )
    except zlib.error:
        return response.replace(body=b"")
