"""Counting and logging of requests that the server refuses before any application sees them."""

import time
from collections import Counter

import structlog

from sluice.servicekit.metrics import ServiceMetrics

log = structlog.get_logger(__name__)

#: The statuses of refused requests.
STATUSES = (403, 408, 413, 421, 431, 503)
#: Seconds between two log lines about the same status, because clients may retry often.
PAUSE = 10.0


class Refusals:
    """Counter of refused requests by status.

    Log lines are limited. A line says how many refusals were not logged since the last one.
    """

    def __init__(self, *, pause: float = PAUSE) -> None:
        self.pause = pause
        #: When each status was logged last. ``_unlogged`` counts the refusals since then.
        self._logged_at: dict[int, float] = {}
        self._unlogged_requests = Counter[int]()
        self._metrics: ServiceMetrics | None = None
        self._uncounted_requests = Counter[int]()

    def count_in(self, metrics: ServiceMetrics) -> None:
        """Count in these metrics from now on, and add the counts from before."""
        self._metrics = metrics
        for status in STATUSES:
            metrics.refused_requests.labels(status).inc(self._uncounted_requests.pop(status, 0))

    def add(self, status: int, reason: str, *, peer: str, path: str = "") -> None:
        """Count and perhaps log a refused request.

        Args:
            status: The status of the response.
            reason: Why it was refused.
            peer: The client's address.
            path: The path, if already known.
        """
        if self._metrics is None:
            self._uncounted_requests[status] += 1
        else:
            self._metrics.refused_requests.labels(status).inc()
        now = time.monotonic()
        if status in self._logged_at and now < self._logged_at[status] + self.pause:
            self._unlogged_requests[status] += 1
            return
        self._logged_at[status] = now
        unlogged = self._unlogged_requests.pop(status, 0)
        log.warning(
            "http.refused",
            status=status,
            reason=reason,
            peer=peer,
            path=path[:200],
            others_since=unlogged,
        )
