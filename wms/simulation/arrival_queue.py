"""Arriving items.

Items of a pipeline that waits for other pipelines enter when all items of these have passed.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from wms.simulation.world import SimulatedItem


class ArrivalQueue:
    """The items that arrive, and those that may not enter yet.

    ``arrivals`` are times and items in order of time. ``after`` has the pipelines that each
    pipeline waits for. ``items`` is the number of items that arrive in each pipeline.
    """

    def __init__(
        self,
        arrivals: Iterator[tuple[float, list[SimulatedItem]]],
        after: Sequence[Sequence[int]],
        items: Sequence[int],
    ) -> None:
        self._arrivals, self._after, self._remaining = arrivals, after, list(items)
        self._waiting_items: dict[int, list[SimulatedItem]] = {}

    def get_next_arrival(self) -> tuple[float, list[SimulatedItem]] | None:
        """Return the next arrival, or None after the last one."""
        return next(self._arrivals, None)

    def admit(self, item: SimulatedItem) -> bool:
        """Return whether the item may enter; otherwise ``record_finished`` returns it later."""
        if self._is_open(item.pipeline):
            return True
        self._waiting_items.setdefault(item.pipeline, []).append(item)
        return False

    def record_finished(self, item: SimulatedItem) -> list[SimulatedItem]:
        """Record that an item has passed, and return the items that may enter now.

        These items waited for it as the last one.
        """
        self._remaining[item.pipeline] -= 1
        if self._remaining[item.pipeline] or not self._waiting_items:
            return []
        opened = [pipeline for pipeline in self._waiting_items if self._is_open(pipeline)]
        return list(chain.from_iterable(self._waiting_items.pop(pipeline) for pipeline in opened))

    def _is_open(self, pipeline: int) -> bool:
        return not any(self._remaining[before] for before in self._after[pipeline])
