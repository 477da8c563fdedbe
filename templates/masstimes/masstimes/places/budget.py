"""The number of requests of each kind that a run may send, and has sent."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from masstimes.places.provider import RequestKind
from masstimes.request_policy import ServerUnavailable

#: The units of the quota for a request of each kind.
UNITS = {RequestKind.SEARCH: 10, RequestKind.DETAIL: 1}


class BudgetExceeded(ServerUnavailable):
    """The run has sent all allowed requests of a kind."""


@dataclass
class Budget:
    """A budget of requests. ``limits`` has the kinds with a limit.

    Requests are counted just before they are sent. An answer from the cache costs nothing, and the
    next parish can use what one parish did not need.
    """

    limits: Mapping[RequestKind, int] = field(default_factory=dict)
    sent_requests: Counter[RequestKind] = field(default_factory=Counter)

    def spend(self, kind: RequestKind) -> None:
        """Count a request that is about to be sent.

        Raises:
            BudgetExceeded: All requests of its kind have been sent.
        """
        limit = self.limits.get(kind)
        if limit is not None and self.sent_requests[kind] >= limit:
            raise BudgetExceeded(
                f"the budget of {limit} {kind} requests is spent: run again with the same --cache"
                f" to continue, or raise --max-{kind}"
            )
        self.sent_requests[kind] += 1

    def units(self) -> int:
        """Return the spent units of the quota."""
        return sum(UNITS[kind] * number for kind, number in self.sent_requests.items())

    def counts(self) -> dict[str, int]:
        """Return the number of sent requests of each kind."""
        return {str(kind): self.sent_requests[kind] for kind in RequestKind}
