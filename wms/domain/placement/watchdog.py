"""A placement policy that works in rounds: places go to the kind with the highest priority.

The priority of kind q is

    PP_q = (L·AMT / (NW + 1) + WT) · (AP + 1)

- L: number of its waiting jobs.
- AMT: mean time of its jobs.
- NW: number of places that serve it.
- WT: waiting time of its oldest job while nobody serves it.
- AP: the administrator's priority; -1 switches the kind off.

Idle places go, one by one, to the kind with the highest value. If all places are busy, one place a
round moves to the highest kind. It is the first, from the lowest kind up, whose unlock time, AMT·10
+ 10 s, has passed since its last move. The times are running averages. A kind that is switched off
does not lock its places.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from wms.domain.placement.policy import Kind, Move, Place

#: Jobs that a place does at least, and the assumed seconds of a move.
LEAST_JOBS, MOVING = 10, 10.0
#: Time of a job while none has ended.
UNKNOWN = 1.0


@dataclass(frozen=True, slots=True)
class Watchdog:
    """Policy of rounds, ``every`` seconds apart."""

    every: float | None = 1.0
    weighs_priority: bool = True

    def next_kind(self, kinds: Sequence[Kind], place: Place, now: float) -> int | None:
        """Return the loaded kind if it has jobs; only rounds move a place."""
        loaded = place.loaded
        if loaded is None or not kinds[loaded].ready or not kinds[loaded].is_on:
            return None
        return loaded

    def moves(self, kinds: Sequence[Kind], places: Sequence[Place], now: float) -> list[Move]:
        """Return the moves of all idle places, or of one busy place if none is idle."""
        serving = [kind.serving for kind in kinds]
        idle = [place for place in places if place.is_idle]
        if not idle:
            return _one_of_the_busy(kinds, places, serving, now)
        found = []
        for place in idle:
            best = _highest(kinds, serving, place.suits, now)
            if best is None or best == place.loaded:
                continue
            if place.loaded is not None:
                serving[place.loaded] -= 1
            serving[best] += 1
            found.append(Move(place.number, best))
        return found


def priority(kind: Kind, serving: int, now: float) -> float:
    """Return the value of the formula in the module's docstring."""
    unserved = now - kind.since if kind.since is not None and not serving else 0.0
    return (kind.ready * (kind.mean or UNKNOWN) / (serving + 1) + unserved) * (kind.priority + 1)


def unlock_time(kind: Kind) -> float:
    """Return how long a place stays at least while the kind has work."""
    return (kind.mean or UNKNOWN) * LEAST_JOBS + MOVING


def _highest(
    kinds: Sequence[Kind], serving: Sequence[int], among: Sequence[int], now: float
) -> int | None:
    best, most = None, 0.0
    for number in among:
        if kinds[number].is_on and (here := priority(kinds[number], serving[number], now)) > most:
            best, most = number, here
    return best


def _one_of_the_busy(
    kinds: Sequence[Kind], places: Sequence[Place], serving: Sequence[int], now: float
) -> list[Move]:
    heights = [priority(kind, serving[number], now) for number, kind in enumerate(kinds)]
    waiting = [place for place in places if place.loaded is not None]
    for place in sorted(waiting, key=lambda place: (heights[place.loaded or 0], place.number)):
        loaded = place.loaded or 0
        kind = kinds[loaded]
        if kind.is_on and now - place.moved < unlock_time(kind):
            continue
        best = _highest(kinds, serving, place.suits, now)
        if best is not None and best != loaded and heights[best] > heights[loaded]:
            return [Move(place.number, best)]
    return []
