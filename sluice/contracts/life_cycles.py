"""Tables of legal moves, and what is asked of them. Each life cycle's own table stands in its
owner's ``domain/transitions.py``."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

StateT = TypeVar("StateT", bound=StrEnum)

#: State → the states that it may move to; none where it is final.
Moves = Mapping[StateT, frozenset[StateT]]


class IllegalMove(Exception):
    """A program error: the life cycle has no such move. ``what`` was to move."""

    def __init__(self, what: str, old: StrEnum, new: StrEnum) -> None:
        super().__init__(f"{what} cannot go from {old} to {new}")
        self.what = what
        self.old = old
        self.new = new


def may_move(moves: Moves[StateT], old: StateT, new: StateT) -> bool:
    return new in moves[old]


def require_move(moves: Moves[StateT], old: StateT, new: StateT, *, what: str) -> None:
    """Raises ``IllegalMove`` unless ``moves`` has old → new."""
    if not may_move(moves, old, new):
        raise IllegalMove(what, old, new)


def states_before(moves: Moves[StateT], target: StateT) -> list[StateT]:
    """The states from which ``target`` may be entered: what guards the UPDATE."""
    return [state for state, targets in moves.items() if target in targets]
