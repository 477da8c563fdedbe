"""Who answers without looking: a sequential test (Wald, 1945) of what a browser answered against
what was right.

Two explanations are compared. Who looks gives the right answer but for an error now and then: as
often as explains the answers best, up to ``ERRORS``, so that who makes none where one answer is
nearly always right is not taken for who always gives it. Who does not look gives each answer as
often as he gives it at all, whatever is right (the confusion matrices are those of Dawid and Skene,
1979, with equal rows). The score is the logarithm of how much better the second explains the
answers; where it passes ``LIMIT``, the browser is excluded. By Wald's bound about one in
``exp(LIMIT)`` of those who look ever gets there.
"""

import math
from collections import Counter
from collections.abc import Mapping
from enum import StrEnum

#: One in a thousand.
LIMIT = math.log(1000)


class KnownBy(StrEnum):
    """What an answer is compared with."""

    GOLD = "gold"  #: it is known
    PEERS = "peers"  #: what the others agree on, who may be wrong


#: How often who looks differs from the reference, at most.
ERRORS: Mapping[KnownBy, float] = {KnownBy.GOLD: 0.12, KnownBy.PEERS: 0.22}

#: Kind of reference -> what was right -> what was answered -> how often.
Evidence = Mapping[str, Mapping[str, Mapping[str, int]]]


def score(evidence: Evidence, answers: int) -> float:
    """``answers``: that could be given."""
    given = Counter[str]()
    for rows in evidence.values():
        for row in rows.values():
            given.update(row)
    total = sum(given.values())
    found = 0.0
    for reference, rows in evidence.items():
        error = _error(KnownBy(reference), evidence)
        for right, row in rows.items():
            for answer, number in row.items():
                # Half an answer more of each kind (Jeffreys), so that none is impossible.
                blind = (given[answer] + 0.5) / (total + 0.5 * answers)
                looking = 1 - error if answer == right else error / (answers - 1)
                found += number * (math.log(blind) - math.log(looking))
    return found


def _error(reference: KnownBy, evidence: Evidence) -> float:
    """Of who looks, as with ``blind`` half an error and half a right answer more."""
    right, number = right_of(evidence, reference)
    return min(ERRORS[reference], (number - right + 0.5) / (number + 1))


def others_agree_on(answers: Mapping[str, int], own: str) -> str | None:
    """What the others say of an item. ``answers``: how many gave each, with one's ``own``. None:
    there are none, or as many for one as for another.
    """
    others = Counter(answers)
    others[own] -= 1
    first, *rest = [*others.most_common(2), ("", 0), ("", 0)][:2]
    return first[0] if first[1] > rest[0][1] else None


def right_of(evidence: Evidence, reference: KnownBy) -> tuple[int, int]:
    """How many answers were as the reference, and how many there were."""
    rows = evidence.get(reference.value, {})
    right = sum(row.get(answer, 0) for answer, row in rows.items())
    return right, sum(sum(row.values()) for row in rows.values())


def is_gold(device: int, number: int, every: int) -> bool:
    """Is the item that a browser is shown as its ``number``-th one whose answer is known? One in
    ``every`` is, and nobody can tell which. ``device``: its uid as a number.
    """
    # A multiplication by Knuth's constant, as in The Art of Computer Programming 6.4.
    mixed = ((device & 0xFFFFFFFF) ^ (number * 2654435761)) * 2654435761 & 0xFFFFFFFF
    return (mixed >> 16) % every == 0
