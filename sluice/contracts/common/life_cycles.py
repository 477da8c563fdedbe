"""Tables of state transitions, and the functions that check them.

The table of each life cycle is in ``domain/transitions.py`` of the service that owns it.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

StateT = TypeVar("StateT", bound=StrEnum)

#: State → the possible next states. A final state has none.
Moves = Mapping[StateT, frozenset[StateT]]


class IllegalTransition(Exception):
    """A transition that the life cycle does not allow, which is a program error.

    ``what`` names the object.
    """

    def __init__(self, what: str, old: StrEnum, new: StrEnum) -> None:
        super().__init__(f"{what} cannot go from {old} to {new}")
        self.what = what
        self.old = old
        self.new = new


def may_move(moves: Moves[StateT], old: StateT, new: StateT) -> bool:
    """Return whether the life cycle allows the transition."""
    return new in moves[old]


def require_move(moves: Moves[StateT], old: StateT, new: StateT, *, what: str) -> None:
    """Require that the life cycle allows the transition.

    Raises:
        IllegalTransition: The transition is not in ``moves``.
    """
    if not may_move(moves, old, new):
        raise IllegalTransition(what, old, new)


def states_before(moves: Moves[StateT], target: StateT) -> list[StateT]:
    """Return the states with a transition to ``target``.

    SQL updates use them as a condition.
    """
    return [state for state, targets in moves.items() if target in targets]
