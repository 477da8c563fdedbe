"""A policy of rounds: places go to the kind with the highest priority.

Of each kind q, with L jobs that wait, AMT a job's mean time, NW places that serve it, WT the time
that its oldest job has waited while nobody serves it, and AP an administrator's priority (-1
switches it off):

    PP_q = (L·AMT / (NW + 1) + WT) · (AP + 1)

Idle places go, one by one, to the highest. When all are busy, from the lowest kind up the first
place moves to the highest whose unlock time, AMT·10 + 10 s, has passed since it moved: one a round.
The times are running averages, and what is switched off keeps nobody.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from wms.domain.placement import Kind, Move, Place

#: Jobs that a place does at least, and seconds that a move is thought to cost.
LEAST_JOBS, MOVING = 10, 10.0
#: A job's time where none has ended yet.
UNKNOWN = 1.0


@dataclass(frozen=True, slots=True)
class Watchdog:
    """``every``: seconds between rounds."""

    every: float | None = 1.0
    weighs_priority: bool = True

    def next_kind(self, kinds: Sequence[Kind], place: Place, now: float) -> int | None:
        """It stays with what it has loaded: only rounds move it."""
        loaded = place.loaded
        if loaded is None or not kinds[loaded].ready or not kinds[loaded].is_on:
            return None
        return loaded

    def moves(self, kinds: Sequence[Kind], places: Sequence[Place], now: float) -> list[Move]:
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
    """The formula above."""
    unserved = now - kind.since if kind.since is not None and not serving else 0.0
    return (kind.ready * (kind.mean or UNKNOWN) / (serving + 1) + unserved) * (kind.priority + 1)


def unlock_time(kind: Kind) -> float:
    """For which a place stays at least, while the kind has work."""
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
