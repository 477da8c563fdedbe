"""What is loaded where: what every policy is told, and what it may answer.

A *kind* of work has to be loaded before its jobs run; a *place* holds one loaded kind and works on
one job at a time. A policy is asked when a place has nothing to do (``next_kind``), and, if it
wants that, from time to time (``moves``). No policy knows how long a job will take: only how long
those before it took.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

#: The weight of the newest time in a running average.
NEWEST = 0.05


@dataclass(slots=True)
class Kind:
    """``loading``: what it costs to load it; ``mean``: of its jobs' times, 0 while nothing is
    known; ``after``: work that is left of a page behind this kind. ``ready``: jobs that wait;
    ``serving``: places that have it loaded, or are loading it or on their way to it; ``coming``:
    those of them that have it not loaded yet. ``since``: when the oldest job that waits became
    ready. ``priority``: an administrator's; below 0: switched off."""

    name: str
    loading: float
    priority: float = 0.0
    mean: float = 0.0
    after: float = 0.0
    seen: int = 0
    ready: int = 0
    serving: int = 0
    coming: int = 0
    since: float | None = None

    def learn(self, seconds: float) -> None:
        """A job took so long."""
        self.seen += 1
        self.mean += (seconds - self.mean) * max(1 / self.seen, NEWEST)

    def learn_after(self, seconds: float) -> None:
        """A page that came has so much work left behind this kind."""
        self.after += (seconds - self.after) * NEWEST if self.after else seconds

    @property
    def is_on(self) -> bool:
        return self.priority >= 0


@dataclass(slots=True)
class Place:
    """``loaded``: a kind by its number, also one that is on its way; None: nothing. ``moved``: when
    it was told to load that. ``suits``: kinds whose jobs its node can run."""

    number: int
    suits: Sequence[int]
    loaded: int | None = None
    moved: float = 0.0
    is_idle: bool = True


@dataclass(frozen=True, slots=True)
class Move:
    """The place is to load the kind, when it has ended the job in hand."""

    place: int
    kind: int


class Policy(Protocol):
    """``every``: seconds between two calls of ``moves``; None: never. ``weighs_priority``: the
    policy weighs administrators' priorities itself, so that they are no part of ranks."""

    @property
    def every(self) -> float | None: ...

    @property
    def weighs_priority(self) -> bool: ...

    def next_kind(self, kinds: Sequence[Kind], place: Place, now: float) -> int | None:
        """For a place that has no job: the kind it has loaded (it takes its next job), another one
        (it is loaded first), or None: it waits."""
        ...

    def moves(self, kinds: Sequence[Kind], places: Sequence[Place], now: float) -> list[Move]:
        """Places that are to load another kind."""
        ...
