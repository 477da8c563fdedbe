"""A placement policy that works in rounds: places go to the kind with the highest priority.

The priority of kind q is

    PP_q = (L·AMT / (NW + 1) + WT) · (AP + 1)

- L: number of its waiting jobs.
- AMT: mean time of its jobs.
- NW: number of places that serve it.
- WT: waiting time of its oldest job while no worker serves it.
- AP: the administrator's priority; -1 disables the kind.

Idle places go, one by one, to the kind with the highest value. If all places are busy, one place a
round moves to the highest kind. It is the first, from the lowest kind up, whose unlock time, AMT·10
+ 10 s, has passed since its last move. The times are running averages. A disabled kind does not
lock its places.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from wms.domain.placement.policy import Kind, Move, Place

#: Jobs that a place does at least, and the assumed seconds of a move.
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

    def next_kind(self, kinds: Sequence[Kind], place: Place, now: float) -> int | None:
        """Return the loaded kind if it has jobs; only rounds move a place."""
        loaded = place.loaded
        if loaded is None or not kinds[loaded].ready or not kinds[loaded].is_enabled:
            return None
        return loaded

    def moves(self, kinds: Sequence[Kind], places: Sequence[Place], now: float) -> list[Move]:
        """Return the moves of all idle places, or of one busy place if none is idle."""
        serving = [kind.serving for kind in kinds]
        idle = [place for place in places if place.is_idle]
        if not idle:
            return _move_busy_place(kinds, places, serving, now)
        orders = []
        for place in idle:
            best = _find_best_kind(kinds, serving, place.suits, now)
            if best is None or best == place.loaded:
                continue
            if place.loaded is not None:
                serving[place.loaded] -= 1
            serving[best] += 1
            orders.append(Move(place.number, best))
        return orders


def priority(kind: Kind, serving: int, now: float) -> float:
    """Return the value of the formula in the module's docstring."""
    unserved = now - kind.since if kind.since is not None and not serving else 0.0
    return (kind.ready * (kind.mean or DEFAULT_JOB_SECONDS) / (serving + 1) + unserved) * (
        kind.priority + 1
    )


def unlock_time(kind: Kind) -> float:
    """Return how long a place stays at least while the kind has work."""
    return (kind.mean or DEFAULT_JOB_SECONDS) * MIN_JOBS + MOVE_SECONDS


def _find_best_kind(
    kinds: Sequence[Kind], serving: Sequence[int], suitable: Sequence[int], now: float
) -> int | None:
    best, best_value = None, 0.0
    for number in suitable:
        if (
            kinds[number].is_enabled
            and (value := priority(kinds[number], serving[number], now)) > best_value
        ):
            best, best_value = number, value
    return best


def _move_busy_place(
    kinds: Sequence[Kind], places: Sequence[Place], serving: Sequence[int], now: float
) -> list[Move]:
    values = [priority(kind, serving[number], now) for number, kind in enumerate(kinds)]
    waiting = [place for place in places if place.loaded is not None]
    for place in sorted(waiting, key=lambda place: (values[place.loaded or 0], place.number)):
        loaded = place.loaded or 0
        kind = kinds[loaded]
        if kind.is_enabled and now - place.moved < unlock_time(kind):
            continue
        best = _find_best_kind(kinds, serving, place.suits, now)
        if best is not None and best != loaded and values[best] > values[loaded]:
            return [Move(place.number, best)]
    return []
