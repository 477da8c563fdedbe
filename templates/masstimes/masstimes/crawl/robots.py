"""Obedience to robots.txt (RFC 9309)."""

from typing import Self
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.robotstxt import ProtegoRobotParser, RobotParser

#: The bytes that are read, the least that RFC 9309, 2.5 allows. More would delay other sites.
MAX_ROBOTS_BYTES = 500 * 1024


class FirstRules(ProtegoRobotParser):
    """The rules in the first ``MAX_ROBOTS_BYTES`` bytes, without a line that is cut off there."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> Self:
        """Return the parser of a robots.txt."""
        return super().from_crawler(crawler, first_rules(robotstxt_body))

    def crawl_delay(self, user_agent: str | bytes) -> float:
        """Return the seconds between requests that the site asks for, 0 without a rule."""
        delay = super().crawl_delay(user_agent) or 0.0
        return delay if delay > 0 else 0.0  # also for NaN


def first_rules(body: bytes) -> bytes:
    """Return the part of a robots.txt that is read."""
    start = body[:MAX_ROBOTS_BYTES]
    return start if len(start) == len(body) else start[: start.rfind(b"\n") + 1]


class ObeyRobots(RobotsTxtMiddleware):
    """A middleware that treats an unavailable robots.txt as a ban (RFC 9309, 2.3.1.4)."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._failures: dict[str, Exception] = {}

    def process_request_2(self, rp: RobotParser | None, request: Request) -> None:
        """Let a request pass, or raise the reason why it may not be sent."""
        if (failure := self._failures.get(_host(request))) is not None:
            raise failure
        super().process_request_2(rp, request)

    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        """Forbid everything on 5xx and nothing on 4xx, and otherwise read the rules."""
        if response.status >= 500:
            self._failures[netloc] = IgnoreRequest(f"robots.txt answered {response.status}")
        if response.status >= 400:
            response = response.replace(body=b"")
        await super()._parse_robots(response, netloc, request)

    def _robots_error(self, exc: Exception, netloc: str) -> None:
        """Send no request to the host after a network error.

        A robots.txt that was refused, for example because of its redirects, counts as none.
        """
        if not isinstance(exc, IgnoreRequest):
            self._failures[netloc] = exc
        super()._robots_error(exc, netloc)


def _host(request: Request) -> str:
    return urlsplit(request.url).netloc
