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
        """``latency``: until the answer began. What is no success never makes it shorter."""
        target = latency / self.concurrency
        new = min(max((delay + target) / 2, self.least), self.most)
        return new if 200 <= status < 300 else max(new, delay)
