"""How long a site is left alone after each of its answers: the source's rule."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds, but ``concurrency``: of requests that a site may have to work on at a time."""

    first: float = 5.0
    least: float = 0.0
    most: float = 300.0
    concurrency: float = 1.0

    def next_delay(self, delay: float, latency: float, status: int) -> float:
        """Return the delay after an answer that began after ``latency`` seconds.

        An answer other than 2xx leaves the delay as it is: error pages say nothing of the load.
        """
        if not 200 <= status < 300:
            return delay
        target = latency / self.concurrency
        return min(max((delay + target) / 2, self.least), self.most)
