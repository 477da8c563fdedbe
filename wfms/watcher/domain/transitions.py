"""The legal moves of a watch. The documentation and the all-pairs test are made from this table."""

from sluice.contracts.states import WatchState

WATCH_MOVES: dict[WatchState, frozenset[WatchState]] = {
    WatchState.IN_PROGRESS: frozenset(
        {WatchState.FINISHED, WatchState.FAILED, WatchState.CANCELED}
    ),
    WatchState.FINISHED: frozenset(),
    WatchState.FAILED: frozenset(),
    WatchState.CANCELED: frozenset(),
}


def sources(target: WatchState) -> list[WatchState]:
    """The states from which ``target`` may be reached: what a guarded UPDATE asks for."""
    return [state for state, targets in WATCH_MOVES.items() if target in targets]
