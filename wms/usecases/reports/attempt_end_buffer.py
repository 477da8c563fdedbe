"""Ends of attempts that this instance has seen and not yet added to the statistics."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from wms.db.pilots.pilot_times import WorkKind
from wms.domain.scheduling.pilot_times import PilotTimes

#: Most ends that are kept. Ends that were taken are lost if the database fails.
_MAX_BUFFERED_ENDS = 100_000


@dataclass(frozen=True, slots=True)
class AttemptEnd:
    """The end of an attempt at a kind of work.

    Attributes:
        seconds: Time that the job ran; None if the attempt failed.
        is_least: Another attempt ended the job, so the time is a lower bound.
    """

    work: WorkKind
    pilot: UUID
    seconds: float | None
    is_least: bool = False

    def learnt(self, times: PilotTimes) -> PilotTimes:
        """Return the statistics with this end."""
        if self.seconds is None:
            return times.failed()
        return times.at_least(self.seconds) if self.is_least else times.finished(self.seconds)


class AttemptEndBuffer:
    """Buffer of ends of attempts."""

    def __init__(self) -> None:
        self._ends: list[AttemptEnd] = []

    def add(self, ends: Iterable[AttemptEnd]) -> None:
        """Add ends; the oldest are dropped if there are too many."""
        self._ends += ends
        del self._ends[:-_MAX_BUFFERED_ENDS]

    def take(self) -> list[AttemptEnd]:
        """Return all ends and empty the buffer."""
        ends, self._ends = self._ends, []
        return ends
