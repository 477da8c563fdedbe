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

#: Answers whose `Retry-After` holds for the next request.
_LATER = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class Scaled:
    """``factor``: what is waited, as a part of what the rule says; for demonstrations."""

    pace: Pace
    factor: float


class Throttle(AutoThrottle):
    """A delay begins when an answer is over, as in the source; Scrapy's own begins with the
    request. Takes the setting ``PACE``, a ``Scaled``."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        scaled: Scaled = crawler.settings["PACE"]
        self._pace, self._factor = scaled.pace, scaled.factor
        self._unscaled = self._pace.first
        crawler.signals.connect(self._left, signal=signals.request_left_downloader)

    def _start_delay(self) -> float:
        return self._pace.first * self._factor

    def _adjust_delay(self, slot: Slot, latency: float, response: Response) -> None:
        self._unscaled = self._pace.next_delay(self._unscaled, latency, response.status)
        asked = 0.0
        if response.status in _LATER:
            header = response.headers.get("Retry-After") or b""
            asked = min(retry_after(header.decode("latin-1")), self._pace.most)
        slot.delay = max(self._unscaled, asked) * self._factor

    def _left(self, request: Request, **more: Any) -> None:
        """Also where no answer came."""
        _, slot = self._get_slot(request, more["spider"])
        if slot is not None:
            slot.lastseen = monotonic()
