"""Obey what a site asks of robots (RFC 9309)."""

from __future__ import annotations

from typing import Self
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.robotstxt import ProtegoRobotParser, RobotParser

#: Bytes that are read: RFC 9309, 2.5 asks for these at least. More would hold up other sites.
MOST = 500 * 1024


class FirstRules(ProtegoRobotParser):
    """The rules in the first ``MOST`` bytes; a line that is cut there does not count."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> Self:
        """Return the parser of a robots.txt."""
        return super().from_crawler(crawler, first_rules(robotstxt_body))

    def crawl_delay(self, user_agent: str | bytes) -> float:
        """Return the seconds between two requests that the site asks for; 0 where it asks none."""
        delay = super().crawl_delay(user_agent) or 0.0
        return delay if delay > 0 else 0.0  # also of what is no number


def first_rules(body: bytes) -> bytes:
    """Return the part of a robots.txt that is read."""
    read = body[:MOST]
    return read if len(read) == len(body) else read[: read.rfind(b"\n") + 1]


class ObeyRobots(RobotsTxtMiddleware):
    """Take a robots.txt that cannot be had for one that forbids everything (RFC 9309, 2.3.1.4)."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._failures: dict[str, Exception] = {}

    def process_request_2(self, rp: RobotParser | None, request: Request) -> None:
        """Let the request through, or raise why it may not be sent."""
        if (failure := self._failures.get(_host(request))) is not None:
            raise failure
        super().process_request_2(rp, request)

    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        """Forbid everything on 5xx, nothing on 4xx; read the rules of any other answer."""
        if response.status >= 500:
            self._failures[netloc] = IgnoreRequest(f"robots.txt answered {response.status}")
        if response.status >= 400:
            response = response.replace(body=b"")
        await super()._parse_robots(response, netloc, request)

    def _robots_error(self, exc: Exception, netloc: str) -> None:
        """Ask for no page where the network failed; one that leads astray counts as none."""
        if not isinstance(exc, IgnoreRequest):
            self._failures[netloc] = exc
        super()._robots_error(exc, netloc)


def _host(request: Request) -> str:
    return urlsplit(request.url).netloc
