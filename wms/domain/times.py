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

#: The shortest time in seconds that is told from 0, and the number of bins per octave.
SHORTEST, TO_AN_OCTAVE = 0.001, 8


class TimeKind(StrEnum):
    """Kinds of times, as in ``StepTimes``."""

    WORKING = "working"
    WAITING = "waiting"
    PASSAGE = "passage"


@dataclass(slots=True)
class Sample:
    """A histogram of times; ``sizes`` are the counts by bin, and bin 0 is up to ``SHORTEST``."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    least: float = math.inf
    most: float = 0.0
    sizes: dict[int, int] = field(default_factory=dict)

    def add(self, other: "Sample") -> None:
        """Add another histogram."""
        self.count += other.count
        self.total += other.total
        self.squares += other.squares
        self.least = min(self.least, other.least)
        self.most = max(self.most, other.most)
        for size, number in other.sizes.items():
            self.sizes[size] = self.sizes.get(size, 0) + number

    def add_one(self, seconds: float) -> None:
        """Add one time."""
        self.add(Sample(1, seconds, seconds**2, seconds, seconds, {size_of(seconds): 1}))

    @property
    def mean(self) -> float:
        """The mean time; 0 without any."""
        return self.total / self.count if self.count else 0.0

    def quantile(self, share: float) -> float:
        """Return the time that ``share`` of all times do not exceed."""
        wanted, seen = share * self.count, 0
        for size in sorted(self.sizes):
            here = self.sizes[size]
            if seen + here >= wanted:
                low, high = bounds_of(size)
                found = low + (high - low) * (wanted - seen) / here
                return min(max(found, self.least), self.most)
            seen += here
        return self.most

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
            least=self.least,
            median=self.quantile(0.5),
            p90=self.quantile(0.9),
            p99=self.quantile(0.99),
            most=self.most,
        )

    def stored(self) -> list[Any]:
        """Return the histogram as JSON for ``restored``."""
        return [self.count, self.total, self.squares, self.least, self.most, [*self.sizes.items()]]


def size_of(seconds: float) -> int:
    """Return the bin of a time, as the database computes it."""
    if seconds <= SHORTEST:
        return 0
    return 1 + math.floor(TO_AN_OCTAVE * math.log2(seconds / SHORTEST))


def bounds_of(size: int) -> tuple[float, float]:
    """Return the lower and upper bound of a bin in seconds."""
    if size <= 0:
        return 0.0, SHORTEST
    return (
        SHORTEST * 2 ** ((size - 1) / TO_AN_OCTAVE),
        SHORTEST * 2 ** (size / TO_AN_OCTAVE),
    )


def restored(stored: list[Any]) -> Sample:
    """Return the histogram of a result of ``Sample.stored``."""
    count, total, squares, least, most, sizes = stored
    return Sample(count, total, squares, least, most, dict(sizes))


Samples = dict[TimeKind, Sample]


def add_all(to: Samples, more: Mapping[TimeKind, Sample]) -> None:
    """Add histograms to those of the same kinds."""
    for kind, sample in more.items():
        to.setdefault(kind, Sample()).add(sample)


def samples_of(rows: Iterable[Mapping[str, Any]]) -> Samples:
    """Return the histograms of rows.

    The rows have ``kind``, ``size``, ``count``, ``total``, ``squares``, ``least`` and ``most``.
    """
    found: Samples = {}
    for row in rows:
        figures = (row["count"], row["total"], row["squares"], row["least"], row["most"])
        sample = Sample(*figures, {row["size"]: row["count"]})
        found.setdefault(TimeKind(row["kind"]), Sample()).add(sample)
    return found
