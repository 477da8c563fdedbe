"""State transitions of chains, steps and data sets."""

from enum import StrEnum

import pytest

from sluice.contracts.common.states import ChainDatasetStatus, ChainState, StepState
from wfms.chains.domain.transitions import CHAIN_MOVES, DATASET_MOVES, STEP_MOVES


def list_reachable_states(moves: dict[StrEnum, frozenset[StrEnum]], first: StrEnum) -> set[StrEnum]:
    reached, grown = {first}, True
    while grown:
        new = {target for state in reached for target in moves[state]} - reached
        reached, grown = reached | new, bool(new)
    return reached


@pytest.mark.parametrize(
    ("moves", "first"),
    [
        (CHAIN_MOVES, ChainState.IN_PROGRESS),
        (STEP_MOVES, StepState.PENDING),
        (DATASET_MOVES, ChainDatasetStatus.IN_PROGRESS),
    ],
)
def test_each_state_can_be_reached(
    moves: dict[StrEnum, frozenset[StrEnum]], first: StrEnum
) -> None:
    assert list(moves) == list(type(first))
    assert list_reachable_states(moves, first) == set(type(first))


@pytest.mark.parametrize("state", [*ChainState, *StepState])
def test_final_states_have_no_transitions(state: ChainState | StepState) -> None:
    targets = CHAIN_MOVES[state] if isinstance(state, ChainState) else STEP_MOVES[state]
    assert state.final is (not targets)
