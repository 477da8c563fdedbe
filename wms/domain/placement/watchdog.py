"""A placement policy that works in rounds: slots go to the kind with the highest priority.

The priority of kind q is

    PP_q = (L·AMT / (NW + 1) + WT) · (AP + 1)

- L: number of its waiting jobs.
- AMT: mean time of its jobs.
- NW: number of slots that serve it.
- WT: waiting time of its oldest job while no worker serves it.
- AP: the administrator's priority; -1 disables the kind.

Idle slots go, one by one, to the kind with the highest value. If all slots are busy, one slot a
round moves to the highest kind. It is the first, from the lowest kind up, whose unlock time, AMT·10
+ 10 s, has passed since its last move. The times are running averages. A disabled kind does not
lock its slots.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from wms.domain.placement.policy import Kind, Move, WarmSlot

#: Jobs that a slot does at least, and the assumed seconds of a move.
MIN_JOBS, MOVE_SECONDS = 10, 10.0
#: Time of a job while none has ended.
DEFAULT_JOB_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Watchdog:
    """Policy of rounds.

    Attributes:
        every: Seconds between two rounds.
    """

    every: float | None = 1.0
    weighs_priority: bool = True

    def next_kind(self, kinds: Sequence[Kind], slot: WarmSlot, now: float) -> int | None:
        """Return the loaded kind if it has jobs; only rounds move a slot."""
        loaded = slot.assigned_kind
        if loaded is None or not kinds[loaded].ready or not kinds[loaded].is_enabled:
            return None
        return loaded

    def moves(self, kinds: Sequence[Kind], slots: Sequence[WarmSlot], now: float) -> list[Move]:
        """Return the moves of all idle slots, or of one busy slot if none is idle."""
        serving = [kind.assigned_slots for kind in kinds]
        idle = [slot for slot in slots if slot.is_idle]
        if not idle:
            return _move_busy_slot(kinds, slots, serving, now)
        orders = []
        for slot in idle:
            best = _find_best_kind(kinds, serving, slot.suitable_kinds, now)
            if best is None or best == slot.assigned_kind:
                continue
            if slot.assigned_kind is not None:
                serving[slot.assigned_kind] -= 1
            serving[best] += 1
            orders.append(Move(slot.number, best))
        return orders


def priority(kind: Kind, slot_count: int, now: float) -> float:
    """Return the value of the formula in the module's docstring."""
    unserved = (
        now - kind.oldest_ready_at if kind.oldest_ready_at is not None and not slot_count else 0.0
    )
    return (kind.ready * (kind.mean or DEFAULT_JOB_SECONDS) / (slot_count + 1) + unserved) * (
        kind.priority + 1
    )


def unlock_time(kind: Kind) -> float:
    """Return how long a slot stays at least while the kind has work."""
    return (kind.mean or DEFAULT_JOB_SECONDS) * MIN_JOBS + MOVE_SECONDS


def _find_best_kind(
    kinds: Sequence[Kind], slot_counts: Sequence[int], suitable: Sequence[int], now: float
) -> int | None:
    best, best_value = None, 0.0
    for number in suitable:
        if (
            kinds[number].is_enabled
            and (value := priority(kinds[number], slot_counts[number], now)) > best_value
        ):
            best, best_value = number, value
    return best


def _move_busy_slot(
    kinds: Sequence[Kind], slots: Sequence[WarmSlot], slot_counts: Sequence[int], now: float
) -> list[Move]:
    values = [priority(kind, slot_counts[number], now) for number, kind in enumerate(kinds)]
    waiting = [slot for slot in slots if slot.assigned_kind is not None]
    for slot in sorted(waiting, key=lambda slot: (values[slot.assigned_kind or 0], slot.number)):
        loaded = slot.assigned_kind or 0
        kind = kinds[loaded]
        if kind.is_enabled and now - slot.assigned_at < unlock_time(kind):
            continue
        best = _find_best_kind(kinds, slot_counts, slot.suitable_kinds, now)
        if best is not None and best != loaded and values[best] > values[loaded]:
            return [Move(slot.number, best)]
    return []
