"""Warm worker placement: the input and output of every placement policy.

A *kind* of work has to be loaded before its jobs run. A *place* holds one loaded kind and runs one
job at a time. A policy is asked when a place is idle (``next_kind``) and, if it wants, periodically
(``moves``). No policy knows how long a job will take, only how long earlier jobs took.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

#: Weight of the newest time in an exponential moving average.
SMOOTHING_FACTOR = 0.05


@dataclass(slots=True)
class Kind:
    """A kind of work.

    Attributes:
        loading: Time to load it.
        priority: The administrator's priority; below 0 it is disabled.
        mean: Mean time of its jobs; 0 while unknown.
        after: Work that is left for a page after this kind.
        ready: Number of waiting jobs.
        serving: Places that have it loaded or will load it.
        coming: Those of them that have not loaded it yet.
        since: When the oldest waiting job became ready.
    """

    name: str
    loading: float
    priority: float = 0.0
    mean: float = 0.0
    after: float = 0.0
    timed_jobs: int = 0
    ready: int = 0
    serving: int = 0
    coming: int = 0
    since: float | None = None

    def learn(self, seconds: float) -> None:
        """Add the time of a job to the mean."""
        self.timed_jobs += 1
        self.mean += (seconds - self.mean) * max(1 / self.timed_jobs, SMOOTHING_FACTOR)

    def learn_after(self, seconds: float) -> None:
        """Add the work that was left for a page after this kind to the mean."""
        self.after += (seconds - self.after) * SMOOTHING_FACTOR if self.after else seconds

    @property
    def is_enabled(self) -> bool:
        """Whether it is not disabled."""
        return self.priority >= 0


@dataclass(slots=True)
class Place:
    """A place that holds one loaded kind.

    Attributes:
        suits: Kinds whose jobs its node can run.
        loaded: Number of the kind that is loaded or about to be; None for nothing.
        moved: When it was told to load that kind.
    """

    number: int
    suits: Sequence[int]
    loaded: int | None = None
    moved: float = 0.0
    is_idle: bool = True


@dataclass(frozen=True, slots=True)
class Move:
    """An order to a place to load a kind when its current job ends."""

    place: int
    kind: int


class Policy(Protocol):
    """A placement policy."""

    @property
    def every(self) -> float | None:
        """Seconds between two calls of ``moves``; None for never."""

    @property
    def weighs_priority(self) -> bool:
        """Whether the policy weighs step priorities itself, so that ranks leave them out."""

    def next_kind(self, kinds: Sequence[Kind], place: Place, now: float) -> int | None:
        """Return the next kind for an idle place.

        Returns:
            The loaded kind, to take its next job; another kind, to load it first; or None, to wait.
        """
        ...

    def moves(self, kinds: Sequence[Kind], places: Sequence[Place], now: float) -> list[Move]:
        """Return the places that are to load another kind."""
        ...
