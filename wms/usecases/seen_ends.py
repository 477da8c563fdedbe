"""Ends of attempts that this instance has seen, until they are learnt from."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from wms.db.worker_times import WorkKind
from wms.domain.worker_times import WorkerTimes

#: Ends that are kept at the most, until they are learnt from; what has been taken when the
#: database fails is forgotten.
_MOST = 100_000


@dataclass(frozen=True, slots=True)
class WorkEnd:
    """``seconds`` that the job ran; None: the attempt failed. ``is_least``: another attempt ended
    the job, and so it would have been more.
    """

    work: WorkKind
    pilot: UUID
    seconds: float | None
    is_least: bool = False

    def learnt(self, times: WorkerTimes) -> WorkerTimes:
        if self.seconds is None:
            return times.failed()
        return times.at_least(self.seconds) if self.is_least else times.finished(self.seconds)


class SeenEnds:
    def __init__(self) -> None:
        self._ends: list[WorkEnd] = []

    def add(self, ends: Iterable[WorkEnd]) -> None:
        self._ends += ends
        del self._ends[:-_MOST]

    def take(self) -> list[WorkEnd]:
        ends, self._ends = self._ends, []
        return ends
