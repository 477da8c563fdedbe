"""Each life cycle decides every pair of states and has ways in and out of every state."""

from enum import StrEnum
from itertools import product

import pytest

from scripts.docs.life_cycle_notes import NOTES
from scripts.docs.life_cycles import LifeCycle, life_cycles
from scripts.docs.source_comments import read_comments
from sluice.contracts.common.life_cycles import (
    IllegalTransition,
    may_move,
    require_move,
    states_before,
)
from sluice.contracts.common.states import JobState

CYCLES = life_cycles()
all_cycles = pytest.mark.parametrize("cycle", CYCLES, ids=lambda cycle: cycle.key)

#: Final states that a person may leave: a failed job may get another round while its task runs.
REOPENED: dict[StrEnum, frozenset[StrEnum]] = {
    JobState.FAILED: frozenset({JobState.READY, JobState.ASKED})
}


def test_every_life_cycle_is_documented() -> None:
    assert {cycle.key for cycle in CYCLES} == NOTES.keys()


@all_cycles
def test_every_pair_of_states_is_decided(cycle: LifeCycle) -> None:
    """Each state has a row, rows lead to known states, and no state leads to itself."""
    assert set(cycle.moves) == set(cycle.states)
    for old, new in product(cycle.states, cycle.states):
        if new in cycle.moves[old]:
            assert old is not new
            assert not getattr(old, "final", False) or cycle.moves[old] == REOPENED.get(old), (
                f"{old} is final and leads to {new}"
            )


@all_cycles
def test_contract_and_table_agree_on_final_states(cycle: LifeCycle) -> None:
    for state in cycle.states:
        if hasattr(state, "final"):
            assert state.final == (cycle.moves[state] in (frozenset(), REOPENED.get(state))), state


@all_cycles
def test_every_state_is_reachable_and_leads_to_a_final_state(cycle: LifeCycle) -> None:
    assert cycle.reachable(cycle.initial) == set(cycle.states)
    ends = set(cycle.final) or {cycle.initial}  # A pilot has no final state.
    for state in cycle.states:
        assert cycle.reachable(state) & ends, f"there is no way out of {state}"


@all_cycles
def test_every_state_has_a_meaning_and_a_note_on_its_moves(cycle: LifeCycle) -> None:
    meanings = read_comments(cycle.states)
    assert {state.name for state in cycle.states} <= meanings.keys()
    assert set(NOTES[cycle.key].states) == {state for state in cycle.states if cycle.moves[state]}


@all_cycles
def test_only_moves_of_the_table_are_legal(cycle: LifeCycle) -> None:
    for old, new in product(cycle.states, cycle.states):
        legal = new in cycle.moves[old]
        assert may_move(cycle.moves, old, new) is legal
        assert (old in states_before(cycle.moves, new)) is legal
        if legal:
            require_move(cycle.moves, old, new, what="it")
        else:
            with pytest.raises(IllegalTransition) as raised:
                require_move(cycle.moves, old, new, what="it")
            assert (raised.value.old, raised.value.new) == (old, new)


def test_unreachable_and_final_states_of_a_cycle_are_found() -> None:
    class Light(StrEnum):
        RED = "red"
        GREEN = "green"
        BROKEN = "broken"

    cycle = LifeCycle(
        "x.LIGHT_MOVES",
        Light,
        {Light.RED: frozenset({Light.GREEN}), Light.GREEN: frozenset(), Light.BROKEN: frozenset()},
    )
    assert cycle.reachable(cycle.initial) == {Light.RED, Light.GREEN}
    assert cycle.final == [Light.GREEN, Light.BROKEN]
