"""What a site asks of robots."""

from __future__ import annotations

from typing import Self

from scrapy.crawler import Crawler
from scrapy.robotstxt import ProtegoRobotParser

#: Bytes that are read: RFC 9309, 2.5 asks for these at least. More would hold up other sites.
MOST = 500 * 1024


class FirstRules(ProtegoRobotParser):
    """Those in the first ``MOST`` bytes; a line that is cut there does not count."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> Self:
        read = robotstxt_body[:MOST]
        if len(read) < len(robotstxt_body):
            read = read[: read.rfind(b"\n") + 1]
        return super().from_crawler(crawler, read)
