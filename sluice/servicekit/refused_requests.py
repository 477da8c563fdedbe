"""What a server refuses before any application sees it, and so no application counts or logs."""

import time
from collections import Counter

import structlog

from sluice.servicekit.metrics import ServiceMetrics

log = structlog.get_logger(__name__)

#: Statuses of what is refused.
STATUSES = (403, 408, 413, 421, 431, 503)
#: Seconds between two lines in the log about one status: who is refused may come again and again.
PAUSE = 10.0


class Refusals:
    """Counted by status; of each, one line in the log at a time, which says how many there were
    without one.
    """

    def __init__(self, *, pause: float = PAUSE) -> None:
        self.pause = pause
        #: Status → when the log was told last, and how many have come since.
        self._told: dict[int, float] = {}
        self._untold = Counter[int]()
        self._metrics: ServiceMetrics | None = None
        self._uncounted = Counter[int]()

    def count_in(self, metrics: ServiceMetrics) -> None:
        """From here on, and what there was before: a server answers before its service is made."""
        self._metrics = metrics
        for status in STATUSES:
            metrics.refused.labels(status).inc(self._uncounted.pop(status, 0))

    def add(self, status: int, reason: str, *, peer: str, path: str = "") -> None:
        """``peer``: who sent it. ``path``: where that is known already."""
        if self._metrics is None:
            self._uncounted[status] += 1
        else:
            self._metrics.refused.labels(status).inc()
        now = time.monotonic()
        if status in self._told and now < self._told[status] + self.pause:
            self._untold[status] += 1
            return
        self._told[status] = now
        untold = self._untold.pop(status, 0)
        log.warning(
            "http.refused",
            status=status,
            reason=reason,
            peer=peer,
            path=path[:200],
            others_since=untold,
        )
