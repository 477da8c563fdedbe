"""The legal state transitions of a chain, its steps and its data sets.

The documentation and the all-pairs test are generated from them.
"""

from sluice.contracts.common.life_cycles import Moves
from sluice.contracts.common.states import ChainDatasetStatus, ChainState, StepState

CHAIN_MOVES: Moves[ChainState] = {
    ChainState.IN_PROGRESS: frozenset(
        {ChainState.UPLOADING, ChainState.FAILED, ChainState.CANCELED}
    ),
    ChainState.UPLOADING: frozenset({ChainState.FINISHED, ChainState.FAILED, ChainState.CANCELED}),
    ChainState.FINISHED: frozenset(),
    ChainState.FAILED: frozenset(),
    ChainState.CANCELED: frozenset(),
}

STEP_MOVES: Moves[StepState] = {
    StepState.PENDING: frozenset({StepState.STARTING, StepState.CANCELED}),
    StepState.STARTING: frozenset({StepState.IN_PROGRESS, StepState.FAILED, StepState.CANCELED}),
    StepState.IN_PROGRESS: frozenset({StepState.FINISHED, StepState.FAILED, StepState.CANCELED}),
    StepState.FINISHED: frozenset(),
    StepState.FAILED: frozenset(),
    StepState.CANCELED: frozenset(),
}

DATASET_MOVES: Moves[ChainDatasetStatus] = {
    ChainDatasetStatus.IN_PROGRESS: frozenset({ChainDatasetStatus.READY}),
    ChainDatasetStatus.READY: frozenset({ChainDatasetStatus.FINISHED}),
    ChainDatasetStatus.FINISHED: frozenset(),
}
