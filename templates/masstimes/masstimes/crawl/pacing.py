"""Scrapy's AutoThrottle with the rule of ``Pace``."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.extensions.throttle import AutoThrottle

from masstimes.crawl.pace import Pace
from masstimes.polite import retry_after

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.core.downloader import Slot
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from masstimes.crawl.robots import FirstRules

#: The statuses of answers whose `Retry-After` counts.
_RETRY_STATUSES = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class ScaledPace:
    """A pace whose delays are multiplied by ``factor``, for demonstrations."""

    pace: Pace
    factor: float


class Throttle(AutoThrottle):
    """A throttle by ``Pace``, by ``Retry-After``, and by ``Crawl-delay`` of robots.txt.

    A delay begins when an answer is complete. Scrapy's own throttle counts from the request. The
    setting ``PACE`` is a ``ScaledPace``.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        scaled: ScaledPace = crawler.settings["PACE"]
        self._pace, self._factor = scaled.pace, scaled.factor
        self._unscaled = self._pace.first
        self._crawl_delay = 0.0
        self._user_agent = crawler.settings["USER_AGENT"]
        crawler.signals.connect(self._obey_crawl_delay, signal=signals.robots_parsed)
        crawler.signals.connect(self._restart_delay, signal=signals.request_left_downloader)

    def _start_delay(self) -> float:
        return self._pace.first * self._factor

    def _adjust_delay(self, slot: Slot, latency: float, response: Response) -> None:
        self._unscaled = self._pace.next_delay(self._unscaled, latency, response.status)
        requested_delay = 0.0
        if response.status in _RETRY_STATUSES:
            header = response.headers.get("Retry-After") or b""
            requested_delay = min(retry_after(header.decode("latin-1")), self._pace.max_delay)
        slot.delay = max(self._unscaled, requested_delay, self._crawl_delay) * self._factor

    def _obey_crawl_delay(self, robotparser: FirstRules, request: Request, **_: Any) -> None:
        """Wait at least as long as a robots.txt of the site asks, from the next request on."""
        requested_delay = min(robotparser.crawl_delay(self._user_agent), self._pace.max_delay)
        self._crawl_delay = max(self._crawl_delay, requested_delay)
        for slot in self.crawler.engine.downloader.slots.values():  # one slot for the site
            slot.delay = max(slot.delay, self._crawl_delay * self._factor)

    def _restart_delay(self, request: Request, **keywords: Any) -> None:
        """Start the delay when a request is over, also without an answer."""
        _, slot = self._get_slot(request, keywords["spider"])
        if slot is not None:
            slot.lastseen = monotonic()
