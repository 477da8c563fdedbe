"""The tables of moves: complete, and final states are ends."""

import pytest

from sluice.contracts.states import ChainDatasetStatus, ChainState, StepState
from wfms.chains.domain.transitions import CHAIN_MOVES, DATASET_MOVES, STEP_MOVES, sources


@pytest.mark.parametrize(
    ("moves", "states", "first"),
    [
        (CHAIN_MOVES, ChainState, ChainState.IN_PROGRESS),
        (STEP_MOVES, StepState, StepState.PENDING),
        (DATASET_MOVES, ChainDatasetStatus, ChainDatasetStatus.IN_PROGRESS),
    ],
)
def test_every_state_can_be_reached_and_left_as_its_name_says(moves: dict, states: type, first: object) -> None:  # type: ignore[type-arg] # three enums
    assert set(moves) == set(states)
    reached, grown = {first}, True
    while grown:
        new = {target for state in reached for target in moves[state]} - reached
        reached, grown = reached | new, bool(new)
    assert reached == set(states)
    for state, targets in moves.items():
        final = state.final if hasattr(state, "final") else state is ChainDatasetStatus.FINISHED
        assert final is (not targets)
        assert sources(moves, state) == [one for one in states if state in moves[one]]  # type: ignore[attr-defined]
