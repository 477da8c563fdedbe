"""Histograms of the times of jobs; their size does not grow with the number of jobs.

Histograms of several tasks can be added. A bin is an eighth of an octave wide, so a quantile is
right to 4.5 %; sums, minimum and maximum are exact.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sluice.contracts.jobs.times import Spread

#: The shortest time in seconds that is not counted as 0, and the number of bins per octave.
MIN_SECONDS, BINS_PER_OCTAVE = 0.001, 8


class TimeKind(StrEnum):
    """Kinds of times, as in ``StepTimes``."""

    WORKING = "working"
    WAITING = "waiting"
    TURNAROUND = "passage"


@dataclass(slots=True)
class Sample:
    """A histogram of times.

    Attributes:
        sizes: The counts by bin. Bin 0 has times up to ``MIN_SECONDS``.
    """

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    min_seconds: float = math.inf
    max_seconds: float = 0.0
    sizes: dict[int, int] = field(default_factory=dict)

    def add(self, other: "Sample") -> None:
        """Add another histogram."""
        self.count += other.count
        self.total += other.total
        self.squares += other.squares
        self.min_seconds = min(self.min_seconds, other.min_seconds)
        self.max_seconds = max(self.max_seconds, other.max_seconds)
        for size, number in other.sizes.items():
            self.sizes[size] = self.sizes.get(size, 0) + number

    def add_one(self, seconds: float) -> None:
        """Add one time."""
        self.add(Sample(1, seconds, seconds**2, seconds, seconds, {find_bin(seconds): 1}))

    @property
    def mean(self) -> float:
        """The mean time; 0 without any."""
        return self.total / self.count if self.count else 0.0

    def quantile(self, share: float) -> float:
        """Return the time that ``share`` of all times do not exceed."""
        target, below = share * self.count, 0
        for size in sorted(self.sizes):
            in_bin = self.sizes[size]
            if below + in_bin >= target:
                low, high = get_bin_bounds(size)
                value = low + (high - low) * (target - below) / in_bin
                return min(max(value, self.min_seconds), self.max_seconds)
            below += in_bin
        return self.max_seconds

    def spread(self) -> Spread | None:
        """Return the statistics of the times, or None without any."""
        if not self.count:
            return None
        variance = max(self.squares / self.count - self.mean**2, 0.0)
        return Spread(
            count=self.count,
            total=self.total,
            mean=self.mean,
            deviation=math.sqrt(variance),
            least=self.min_seconds,
            median=self.quantile(0.5),
            p90=self.quantile(0.9),
            p99=self.quantile(0.99),
            most=self.max_seconds,
        )

    def to_json(self) -> list[Any]:
        """Return the histogram as JSON for ``parse_sample``."""
        return [
            self.count,
            self.total,
            self.squares,
            self.min_seconds,
            self.max_seconds,
            [*self.sizes.items()],
        ]


def find_bin(seconds: float) -> int:
    """Return the bin of a time, as the database computes it."""
    if seconds <= MIN_SECONDS:
        return 0
    return 1 + math.floor(BINS_PER_OCTAVE * math.log2(seconds / MIN_SECONDS))


def get_bin_bounds(size: int) -> tuple[float, float]:
    """Return the lower and upper bound of a bin in seconds."""
    if size <= 0:
        return 0.0, MIN_SECONDS
    return (
        MIN_SECONDS * 2 ** ((size - 1) / BINS_PER_OCTAVE),
        MIN_SECONDS * 2 ** (size / BINS_PER_OCTAVE),
    )


def parse_sample(data: list[Any]) -> Sample:
    """Return the histogram of a result of ``Sample.to_json``."""
    count, total, squares, min_seconds, max_seconds, sizes = data
    return Sample(count, total, squares, min_seconds, max_seconds, dict(sizes))


Samples = dict[TimeKind, Sample]


def add_samples(to: Samples, more: Mapping[TimeKind, Sample]) -> None:
    """Add histograms to those of the same kinds."""
    for kind, sample in more.items():
        to.setdefault(kind, Sample()).add(sample)


def read_samples(rows: Iterable[Mapping[str, Any]]) -> Samples:
    """Return the histograms of rows.

    The rows have ``kind``, ``size``, ``count``, ``total``, ``squares``, ``least`` and ``most``.
    """
    samples: Samples = {}
    for row in rows:
        figures = (row["count"], row["total"], row["squares"], row["least"], row["most"])
        sample = Sample(*figures, {row["size"]: row["count"]})
        samples.setdefault(TimeKind(row["kind"]), Sample()).add(sample)
    return samples
