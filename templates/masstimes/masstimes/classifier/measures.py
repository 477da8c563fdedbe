"""Quality measures of answers."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measures:
    """Counts of a comparison with the truth.

    Positives are answers that something is a mass.
    """

    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int = 0

    @property
    def recall(self) -> float | None:
        """Return the recall, or None if there is nothing to find."""
        return _ratio(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def precision(self) -> float | None:
        """Return the precision, or None if nothing was found."""
        return _ratio(self.true_positives, self.true_positives + self.false_positives)

    @property
    def f1(self) -> float | None:
        """Return the harmonic mean of recall and precision.

        The result is None if nothing was found or missed.
        """
        return _ratio(
            2 * self.true_positives,
            2 * self.true_positives + self.false_positives + self.false_negatives,
        )

    @property
    def accuracy(self) -> float | None:
        """Return the share of correct answers, or None without any."""
        total = (
            self.true_positives + self.false_positives + self.false_negatives + self.true_negatives
        )
        return _ratio(self.true_positives + self.true_negatives, total)


def measure_answers(pairs: Iterable[tuple[bool, bool]]) -> Measures:
    """Return the counts of ``pairs`` of answer and truth."""
    counts = {True: [0, 0], False: [0, 0]}
    for answer, truth in pairs:
        counts[answer][truth] += 1
    return Measures(counts[True][1], counts[True][0], counts[False][1], counts[False][0])


def _ratio(number: int, total: int) -> float | None:
    return round(number / total, 6) if total else None
