"""How many requests of each kind a run may send, and how many it has sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from masstimes.manners import GaveUp
from masstimes.places.provider import RequestKind

#: Units of a quota that a request of each kind takes.
UNITS = {RequestKind.SEARCH: 10, RequestKind.DETAIL: 1}


class OverBudget(GaveUp):
    """The run has sent as many requests of a kind as it may."""


@dataclass
class Budget:
    """A budget of requests; ``most`` names the kinds that have a limit.

    A request is counted when it is about to be sent, so an answer from the cache costs nothing, and
    what one parish did not need is there for the next.
    """

    most: Mapping[RequestKind, int] = field(default_factory=dict)
    sent: Counter[RequestKind] = field(default_factory=Counter)

    def spend(self, kind: RequestKind) -> None:
        """Count a request that is about to be sent.

        Raises:
            OverBudget: all of its kind have been sent.
        """
        limit = self.most.get(kind)
        if limit is not None and self.sent[kind] >= limit:
            raise OverBudget(
                f"the budget of {limit} {kind} requests is spent: run again with the same --cache"
                f" to go on, or raise --most-{kind}"
            )
        self.sent[kind] += 1

    def units(self) -> int:
        """Return the units of a quota that were spent."""
        return sum(UNITS[kind] * number for kind, number in self.sent.items())

    def counts(self) -> dict[str, int]:
        """Return how many requests of each kind were sent."""
        return {str(kind): self.sent[kind] for kind in RequestKind}
