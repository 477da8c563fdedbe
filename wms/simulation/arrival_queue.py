"""Pages that come. Those of a pipeline that waits for others are let in when all of these have
passed."""

from collections.abc import Iterator, Sequence
from itertools import chain

from wms.simulation.world import SimulatedPage


class ArrivalQueue:
    """``arrivals``: times and pages, in order of time; ``after``: of each pipeline, those that it
    waits for; ``pages``: how many come of each."""

    def __init__(
        self,
        arrivals: Iterator[tuple[float, list[SimulatedPage]]],
        after: Sequence[Sequence[int]],
        pages: Sequence[int],
    ) -> None:
        self._arrivals, self._after, self._left = arrivals, after, list(pages)
        self._held: dict[int, list[SimulatedPage]] = {}

    def following(self) -> tuple[float, list[SimulatedPage]] | None:
        """None: that was all."""
        return next(self._arrivals, None)

    def lets_in(self, page: SimulatedPage) -> bool:
        """If not, it is kept until ``passed`` gives it."""
        if self._is_open(page.pipeline):
            return True
        self._held.setdefault(page.pipeline, []).append(page)
        return False

    def passed(self, page: SimulatedPage) -> list[SimulatedPage]:
        """Pages that are let in because this was the last that they waited for."""
        self._left[page.pipeline] -= 1
        if self._left[page.pipeline] or not self._held:
            return []
        opened = [pipeline for pipeline in self._held if self._is_open(pipeline)]
        return list(chain.from_iterable(self._held.pop(pipeline) for pipeline in opened))

    def _is_open(self, pipeline: int) -> bool:
        return not any(self._left[before] for before in self._after[pipeline])
