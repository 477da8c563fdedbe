"""Allowed state transitions of a watch.

The documentation and the all-pairs test are generated from this table.
"""

from sluice.contracts.common.life_cycles import Moves
from sluice.contracts.common.states import WatchState

WATCH_MOVES: Moves[WatchState] = {
    WatchState.IN_PROGRESS: frozenset(
        {WatchState.FINISHED, WatchState.FAILED, WatchState.CANCELED}
    ),
    WatchState.FINISHED: frozenset(),
    WatchState.FAILED: frozenset(),
    WatchState.CANCELED: frozenset(),
}
