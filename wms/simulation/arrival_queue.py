"""Arriving pages.

Pages of a pipeline that waits for other pipelines enter when all pages of these have passed.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from wms.simulation.world import SimulatedPage


class ArrivalQueue:
    """The pages that arrive, and those that may not enter yet.

    ``arrivals`` are times and pages in order of time. ``after`` has the pipelines that each
    pipeline waits for. ``pages`` is the number of pages that arrive in each pipeline.
    """

    def __init__(
        self,
        arrivals: Iterator[tuple[float, list[SimulatedPage]]],
        after: Sequence[Sequence[int]],
        pages: Sequence[int],
    ) -> None:
        self._arrivals, self._after, self._remaining = arrivals, after, list(pages)
        self._waiting_pages: dict[int, list[SimulatedPage]] = {}

    def get_next_arrival(self) -> tuple[float, list[SimulatedPage]] | None:
        """Return the next arrival, or None after the last one."""
        return next(self._arrivals, None)

    def admit(self, page: SimulatedPage) -> bool:
        """Return whether the page may enter; otherwise ``record_passage`` returns it later."""
        if self._is_open(page.pipeline):
            return True
        self._waiting_pages.setdefault(page.pipeline, []).append(page)
        return False

    def record_passage(self, page: SimulatedPage) -> list[SimulatedPage]:
        """Record that a page has passed, and return the pages that may enter now.

        These pages waited for it as the last one.
        """
        self._remaining[page.pipeline] -= 1
        if self._remaining[page.pipeline] or not self._waiting_pages:
            return []
        opened = [pipeline for pipeline in self._waiting_pages if self._is_open(pipeline)]
        return list(chain.from_iterable(self._waiting_pages.pop(pipeline) for pipeline in opened))

    def _is_open(self, pipeline: int) -> bool:
        return not any(self._remaining[before] for before in self._after[pipeline])
