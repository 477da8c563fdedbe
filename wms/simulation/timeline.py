"""The time line of a simulation in the format of the WMS: work of slots, lengths of queues."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sluice.contracts.jobs.times import Lane, Timeline
from wms.simulation.world import Node, SimulatedSlot

#: Slots with their own lane; one more lane has the work of all others.
MAX_LANES = 64
BINS = 400
#: The start of the time line, because simulated time has no date.
_BEGIN = datetime(2000, 1, 1, tzinfo=UTC)
LOADING = "loading"


class TimelineRecorder:
    """Keeps what happens until the end is known."""

    def __init__(self) -> None:
        self._work_periods: list[tuple[int, int, float, float]] = []
        self._waits: list[tuple[int, float, float]] = []

    def record_work(
        self, slot: SimulatedSlot, kind: int, began: float, ended: float, *, loading: bool
    ) -> None:
        """Record that a slot loaded the kind, or did a job of it."""
        self._work_periods.append((slot.warm_slot.number, -1 if loading else kind, began, ended))

    def record_wait(self, kind: int, ready: float, began: float) -> None:
        """Record that a job was taken from the queue of the kind."""
        self._waits.append((kind, ready, began))

    def timeline(self, kinds: Sequence[str], nodes: Sequence[Node], end: float) -> Timeline:
        """Return the time line; loading is one more step after all kinds."""
        width = max(end, 1e-3) / BINS
        names = [node.name for node in nodes for _ in node.slots]
        lanes = [_create_row_set(len(kinds) + 1) for _ in names[:MAX_LANES]]
        others = _create_row_set(len(kinds) + 1)
        for number, kind, began, ended in self._work_periods:
            busy = lanes[number] if number < MAX_LANES else others
            _spread_work(busy[kind if kind >= 0 else len(kinds)], began / width, ended / width)
        timeline_lanes = [
            Lane(name=name, busy=busy) for name, busy in zip(names, lanes, strict=False)
        ]
        if len(names) > MAX_LANES:
            timeline_lanes.append(Lane(name=f"{len(names) - MAX_LANES} others", busy=others))
        return Timeline(
            begin=_BEGIN,
            end=_BEGIN + timedelta(seconds=width * BINS),
            bins=BINS,
            steps=[*kinds, LOADING],
            lanes=timeline_lanes,
            queues=self._build_queues(len(kinds) + 1, width),
        )

    def _build_queues(self, rows: int, width: float) -> list[list[int]]:
        """Return the length of each queue at the end of each bin."""
        change = [[0] * (BINS + 2) for _ in range(rows)]
        for kind, ready, began in self._waits:
            change[kind][min(int(ready / width), BINS)] += 1
            change[kind][min(int(began / width), BINS)] -= 1
        queues = []
        for row in change:
            length, queue = 0, []
            for each in row[:BINS]:
                length += each
                queue.append(length)
            queues.append(queue)
        return queues


def _create_row_set(rows: int) -> list[list[float]]:
    return [[0.0] * BINS for _ in range(rows)]


def _spread_work(row: list[float], began: float, ended: float) -> None:
    """Add 1 for the time between the two moments, which are numbers of bins."""
    first, last = int(began), min(int(ended), BINS - 1)
    for place in range(first, last + 1):
        row[place] += min(ended, place + 1) - max(began, place)
