"""Where Scrapy's own requests may be led: robots.txt of a site is the site's."""

from __future__ import annotations

from scrapy import Request, Spider
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.http import Response

from masstimes.crawl.addresses import domain_of, is_within


class WithinSite(RedirectMiddleware):
    """What leads elsewhere is not followed: nobody there has been asked whether it may be."""

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        led = super().process_response(request, response)
        if isinstance(led, Request) and not is_within(led.url, domain_of(request.url)):
            return response
        return led
