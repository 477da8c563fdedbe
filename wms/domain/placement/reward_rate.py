"""The default policy: an idle slot chooses for itself the kind that earns most per second.

A kind whose jobs take m seconds, with d seconds of work left for an item after it, is worth
``1 / √(m + d)``. So a later stage goes before an earlier one (depth first), and short work before
long. A slot that loads it does its share of the waiting jobs, a *run* of ``ready·m / (slots that
serve it + 1)`` seconds. It loses L seconds: to load it, and to load again what it leaves. It earns

    (priority + 1) · worth · run / (run + L + 3·R)        R = 2·√(L·B)

B is all waiting work, in all its remaining stages, per slot. R is the least run that is worth a
change. A load delays all waiting jobs, more so with longer queues, and short runs need many loads.
As with economic lot sizes, R grows with the root of both.

- A slot whose kind has jobs leaves it only for a kind of higher worth, and for a run of at least
  R.
- A slot whose kind has none goes at once where it earns most. A job for which a slot is on its
  way is not counted again.
- A kind that no worker serves goes first when its oldest job has waited three times as long as all
  waiting work takes.

The rate of reward over a run with its set-ups is the idea of Duenyas and Van Oyen (Heuristic
Scheduling of Parallel Heterogeneous Queues with Set-Ups, Management Science 42(6), 1996, 814-829);
for stages in tandem see Duenyas, Gupta and Olsen (Control of a Single-Server Tandem Queueing System
with Setups, Operations Research 46(2), 1998, 218-230). Both papers treat one server. The root of
the worth, the division among several slots, R and B are our own, found by simulation.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wms.domain.placement.policy import Kind, Move, WarmSlot

#: R over √(L·B), and its factor in the formula of the earnings.
MIN_RUN, CAUTION = 2.0, 3.0
#: How many times the duration of all waiting work a job may wait unserved.
MAX_NEGLECT_FACTOR = 3.0
#: Seconds of a job while none has ended, and the minimum.
DEFAULT_JOB_SECONDS, MIN_JOB_SECONDS = 1.0, 1e-6


@dataclass(frozen=True, slots=True)
class RewardRate:
    """Policy of the reward rate; a decision looks once at each kind."""

    every: float | None = None
    weighs_priority: bool = False

    def next_kind(self, kinds: Sequence[Kind], slot: WarmSlot, now: float) -> int | None:
        """Return the kind that earns most for this slot."""
        loaded = slot.assigned_kind
        loaded_kind = None if loaded is None else kinds[loaded]
        can_continue = loaded_kind is not None and loaded_kind.ready > 0 and loaded_kind.is_enabled
        loaded_worth = (
            compute_worth(loaded_kind) if loaded_kind is not None and can_continue else 0.0
        )
        reload_seconds = loaded_kind.loading if loaded_kind is not None else 0.0
        backlog = compute_backlog(kinds)
        best_kind, best_rate = loaded if can_continue else None, 0.0
        for number in slot.suitable_kinds:
            kind = kinds[number]
            waiting = kind.ready - kind.loading_slots
            if number == loaded or waiting <= 0 or not kind.is_enabled:
                continue
            if is_neglected(kind, backlog, now):
                return number
            setup_seconds = kind.loading + reload_seconds
            min_run = MIN_RUN * math.sqrt(setup_seconds * backlog)
            run = get_job_seconds(kind) * waiting / (kind.assigned_slots + 1)
            if can_continue and (run < min_run or compute_worth(kind) <= loaded_worth):
                continue
            rate = compute_worth(kind) * run / (run + setup_seconds + CAUTION * min_run)
            if rate > best_rate:
                best_kind, best_rate = number, rate
        return best_kind

    def moves(self, kinds: Sequence[Kind], slots: Sequence[WarmSlot], now: float) -> list[Move]:
        """Return no moves, because slots choose for themselves."""
        return []


def get_job_seconds(kind: Kind) -> float:
    """Return the time of one job in seconds."""
    return max(kind.mean or DEFAULT_JOB_SECONDS, MIN_JOB_SECONDS)


def compute_worth(kind: Kind) -> float:
    """Return the worth of a second of its work, by priority."""
    return (kind.priority + 1) / math.sqrt(get_job_seconds(kind) + kind.downstream_seconds)


def compute_backlog(kinds: Sequence[Kind]) -> float:
    """Return the seconds that each slot has to work until all waiting work is done."""
    work = sum(
        kind.ready * (get_job_seconds(kind) + kind.downstream_seconds)
        for kind in kinds
        if kind.is_enabled
    )
    return work / max(sum(kind.assigned_slots for kind in kinds), 1)


def is_neglected(kind: Kind, backlog: float, now: float) -> bool:
    """Return whether other kinds would keep it waiting forever."""
    if kind.assigned_slots or kind.oldest_ready_at is None:
        return False
    return now - kind.oldest_ready_at > MAX_NEGLECT_FACTOR * (backlog + kind.loading)
