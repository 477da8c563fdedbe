"""Detection of browsers that answer carelessly: a sequential test (Wald, 1945).

The test compares two explanations of a browser's answers. A careful annotator gives the right
answer, with an occasional error. The error rate is the one that explains the answers best, up to
``ERRORS``. Where one answer is nearly always right, a careful annotator without errors is therefore
not mistaken for a careless one. A careless annotator gives each answer with a fixed frequency,
whatever is right (confusion matrices of Dawid and Skene, 1979, with equal rows).

The score is the log-likelihood ratio of the second explanation to the first. A browser above
``LIMIT`` is excluded. By Wald's bound, about one in ``exp(LIMIT)`` careful annotators ever is.
"""

import math
from collections import Counter
from collections.abc import Mapping
from enum import StrEnum

#: One in a thousand.
LIMIT = math.log(1000)


class AnswerReference(StrEnum):
    """The reference that an answer is compared with."""

    GOLD = "gold"  #: the known answer
    PEERS = "peers"  #: the answer that the others agree on, who may be wrong


#: Highest error rate of a careful annotator, by reference.
ERRORS: Mapping[AnswerReference, float] = {AnswerReference.GOLD: 0.12, AnswerReference.PEERS: 0.22}

#: Kind of reference → right answer → given answer → number.
Evidence = Mapping[str, Mapping[str, Mapping[str, int]]]


def score(evidence: Evidence, answers: int) -> float:
    """Return the score of a browser. ``answers``: the number of possible answers."""
    answer_counts = Counter[str]()
    for rows in evidence.values():
        for row in rows.values():
            answer_counts.update(row)
    total = sum(answer_counts.values())
    ratio = 0.0
    for reference, rows in evidence.items():
        error = _error(AnswerReference(reference), evidence)
        for right, row in rows.items():
            for answer, number in row.items():
                # Add half an answer of each kind (Jeffreys), so that none is impossible.
                blind = (answer_counts[answer] + 0.5) / (total + 0.5 * answers)
                looking = 1 - error if answer == right else error / (answers - 1)
                ratio += number * (math.log(blind) - math.log(looking))
    return ratio


def _error(reference: AnswerReference, evidence: Evidence) -> float:
    """Return the error rate of a careful annotator.

    As for ``blind``, half an error and half a right answer are added.
    """
    right, number = count_right_answers(evidence, reference)
    return min(ERRORS[reference], (number - right + 0.5) / (number + 1))


def others_agree_on(answers: Mapping[str, int], own_answer: str) -> str | None:
    """Return the most frequent answer of the other browsers, or None if there is no single one.

    Args:
        answers: How many browsers gave each answer, including this browser.
        own_answer: The answer of this browser.
    """
    others = Counter(answers)
    others[own_answer] -= 1
    first, *rest = [*others.most_common(2), ("", 0), ("", 0)][:2]
    return first[0] if first[1] > rest[0][1] else None


def count_right_answers(evidence: Evidence, reference: AnswerReference) -> tuple[int, int]:
    """Return how many answers equal the reference, and how many there are."""
    rows = evidence.get(reference.value, {})
    right = sum(row.get(answer, 0) for answer, row in rows.items())
    return right, sum(sum(row.values()) for row in rows.values())


def is_gold(browser: int, number: int, every: int) -> bool:
    """Return whether the ``number``-th item of a browser is a gold item.

    One in ``every`` is, and annotators cannot tell which.

    Args:
        browser: The uid of the browser as a number.
        number: Position of the item among those that the browser is shown.
        every: One item in this number is a gold item.
    """
    # Multiply by Knuth's constant (The Art of Computer Programming 6.4).
    mixed = ((browser & 0xFFFFFFFF) ^ (number * 2654435761)) * 2654435761 & 0xFFFFFFFF
    return (mixed >> 16) % every == 0
