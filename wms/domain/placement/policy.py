"""Warm worker placement: the input and output of every placement policy.

A *kind* of work has to be loaded before its jobs run. A *warm slot* holds one loaded kind and runs
one job at a time. A policy is asked when a slot is idle (``next_kind``) and, if it wants,
periodically (``moves``). No policy knows how long a job will take, only how long earlier jobs took.
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
        downstream_seconds: Mean time of the work that is left for an item after this kind.
        ready: Number of waiting jobs.
        assigned_slots: Number of slots that have it loaded or will load it.
        loading_slots: Number of those slots that have not loaded it yet.
        oldest_ready_at: When the oldest waiting job became ready.
    """

    name: str
    loading: float
    priority: float = 0.0
    mean: float = 0.0
    downstream_seconds: float = 0.0
    timed_jobs: int = 0
    ready: int = 0
    assigned_slots: int = 0
    loading_slots: int = 0
    oldest_ready_at: float | None = None

    def learn(self, seconds: float) -> None:
        """Add the time of a job to the mean."""
        self.timed_jobs += 1
        self.mean += (seconds - self.mean) * max(1 / self.timed_jobs, SMOOTHING_FACTOR)

    def learn_downstream_seconds(self, seconds: float) -> None:
        """Add the work that was left for an item after this kind to the mean."""
        if self.downstream_seconds:
            self.downstream_seconds += (seconds - self.downstream_seconds) * SMOOTHING_FACTOR
        else:
            self.downstream_seconds = seconds

    @property
    def is_enabled(self) -> bool:
        """Whether it is not disabled."""
        return self.priority >= 0


@dataclass(slots=True)
class WarmSlot:
    """A slot that holds one loaded kind.

    Attributes:
        suitable_kinds: Kinds whose jobs its node can run.
        assigned_kind: Number of the kind that is loaded or will be; None for nothing.
        assigned_at: When it was told to load that kind.
    """

    number: int
    suitable_kinds: Sequence[int]
    assigned_kind: int | None = None
    assigned_at: float = 0.0
    is_idle: bool = True


@dataclass(frozen=True, slots=True)
class Move:
    """An order to a slot to load a kind when its current job ends."""

    slot: int
    kind: int


class Policy(Protocol):
    """A placement policy."""

    @property
    def every(self) -> float | None:
        """Seconds between two calls of ``moves``; None for never."""

    @property
    def weighs_priority(self) -> bool:
        """Whether the policy weighs step priorities itself, so that ranks leave them out."""

    def next_kind(self, kinds: Sequence[Kind], slot: WarmSlot, now: float) -> int | None:
        """Return the next kind for an idle slot.

        Returns:
            The loaded kind, to take its next job; another kind, to load it first; or None, to wait.
        """
        ...

    def moves(self, kinds: Sequence[Kind], slots: Sequence[WarmSlot], now: float) -> list[Move]:
        """Return the slots that are to load another kind."""
        ...
