"""Quality measures of answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measures:
    """Counts of a comparison with the truth.

    ``right`` and ``wrong`` are found, ``missed`` is not found, ``left_out`` is rightly not found.
    """

    right: int
    wrong: int
    missed: int
    left_out: int = 0

    @property
    def recall(self) -> float | None:
        """Return the recall, or None if there is nothing to find."""
        return _part(self.right, self.right + self.missed)

    @property
    def precision(self) -> float | None:
        """Return the precision, or None if nothing was found."""
        return _part(self.right, self.right + self.wrong)

    @property
    def f1(self) -> float | None:
        """Return the harmonic mean of recall and precision.

        The result is None if nothing was found or missed.
        """
        return _part(2 * self.right, 2 * self.right + self.wrong + self.missed)

    @property
    def accuracy(self) -> float | None:
        """Return the share of correct answers, or None without any."""
        all_of_them = self.right + self.wrong + self.missed + self.left_out
        return _part(self.right + self.left_out, all_of_them)


def measures_of(pairs: Iterable[tuple[bool, bool]]) -> Measures:
    """Return the counts of ``pairs`` of answer and truth."""
    counts = {True: [0, 0], False: [0, 0]}
    for said, truth in pairs:
        counts[said][truth] += 1
    return Measures(counts[True][1], counts[True][0], counts[False][1], counts[False][0])


def _part(number: int, whole: int) -> float | None:
    return round(number / whole, 6) if whole else None
