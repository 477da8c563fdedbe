"""The delay between requests to a site, by the rule of the source."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Delays in seconds.

    ``concurrency`` is the number of requests that a site may have to handle at a time.
    """

    first: float = 5.0
    min_delay: float = 0.0
    max_delay: float = 300.0
    concurrency: float = 1.0

    def next_delay(self, delay: float, latency: float, status: int) -> float:
        """Return the delay after an answer that began after ``latency`` seconds.

        Answers other than 2xx do not change the delay, because error pages do not show the load.
        """
        if not 200 <= status < 300:
            return delay
        target = latency / self.concurrency
        return min(max((delay + target) / 2, self.min_delay), self.max_delay)
