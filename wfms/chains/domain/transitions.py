"""The legal moves of a chain, its steps and its data sets. The documentation and the all-pairs test
are made from them."""

from typing import TypeVar

from sluice.contracts.states import ChainDatasetStatus, ChainState, StepState

StateT = TypeVar("StateT", ChainState, StepState, ChainDatasetStatus)

CHAIN_MOVES: dict[ChainState, frozenset[ChainState]] = {
    ChainState.IN_PROGRESS: frozenset(
        {ChainState.UPLOADING, ChainState.FAILED, ChainState.CANCELED}
    ),
    ChainState.UPLOADING: frozenset({ChainState.FINISHED, ChainState.FAILED, ChainState.CANCELED}),
    ChainState.FINISHED: frozenset(),
    ChainState.FAILED: frozenset(),
    ChainState.CANCELED: frozenset(),
}

STEP_MOVES: dict[StepState, frozenset[StepState]] = {
    StepState.PENDING: frozenset({StepState.STARTING, StepState.CANCELED}),
    StepState.STARTING: frozenset({StepState.IN_PROGRESS, StepState.FAILED, StepState.CANCELED}),
    StepState.IN_PROGRESS: frozenset({StepState.FINISHED, StepState.FAILED, StepState.CANCELED}),
    StepState.FINISHED: frozenset(),
    StepState.FAILED: frozenset(),
    StepState.CANCELED: frozenset(),
}

DATASET_MOVES: dict[ChainDatasetStatus, frozenset[ChainDatasetStatus]] = {
    ChainDatasetStatus.IN_PROGRESS: frozenset({ChainDatasetStatus.READY}),
    ChainDatasetStatus.READY: frozenset({ChainDatasetStatus.FINISHED}),
    ChainDatasetStatus.FINISHED: frozenset(),
}


def sources(moves: dict[StateT, frozenset[StateT]], target: StateT) -> list[StateT]:
    """The states from which ``target`` may be reached: what a guarded UPDATE asks for."""
    return [state for state, targets in moves.items() if target in targets]
