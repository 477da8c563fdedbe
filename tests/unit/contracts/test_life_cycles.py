"""Functions on tables of state transitions."""

from enum import StrEnum

import pytest

from sluice.contracts.common.life_cycles import (
    IllegalTransition,
    Moves,
    may_move,
    require_move,
    states_before,
)


class Light(StrEnum):
    GREEN = "green"
    RED = "red"
    BROKEN = "broken"


MOVES: Moves[Light] = {
    Light.GREEN: frozenset({Light.RED, Light.BROKEN}),
    Light.RED: frozenset({Light.GREEN, Light.BROKEN}),
    Light.BROKEN: frozenset(),
}


def test_states_before_inverts_the_transitions() -> None:
    assert states_before(MOVES, Light.GREEN) == [Light.RED]
    assert states_before(MOVES, Light.BROKEN) == [Light.GREEN, Light.RED]


def test_transition_outside_the_table_is_illegal() -> None:
    assert may_move(MOVES, Light.GREEN, Light.RED)
    require_move(MOVES, Light.GREEN, Light.RED, what="light 1")
    assert not may_move(MOVES, Light.BROKEN, Light.RED)
    with pytest.raises(
        IllegalTransition, match=r"^light 1 cannot go from broken to red$"
    ) as raised:
        require_move(MOVES, Light.BROKEN, Light.RED, what="light 1")
    assert (raised.value.old, raised.value.new) == (Light.BROKEN, Light.RED)
