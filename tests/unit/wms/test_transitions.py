"""Every pair of states: legal exactly where the table says so, and the tables say what the life
cycles mean."""

from collections.abc import Mapping
from enum import StrEnum
from itertools import product
from typing import Any

import pytest

from sluice.contracts.states import JobState, PilotState, TaskState
from wms.domain.transitions import (
    JOB_MOVES,
    PILOT_MOVES,
    TASK_MOVES,
    IllegalMove,
    require_move,
    sources,
)

TABLES: list[tuple[type[StrEnum], Mapping[Any, frozenset[Any]]]] = [
    (TaskState, TASK_MOVES),
    (JobState, JOB_MOVES),
    (PilotState, PILOT_MOVES),
]


@pytest.mark.parametrize(("states", "moves"), TABLES)
def test_all_pairs(states: type[StrEnum], moves: Mapping[Any, frozenset[Any]]) -> None:
    assert set(moves) == set(states)
    for old, new in product(states, states):
        assert (old in sources(moves, new)) == (new in moves[old])
        if new in moves[old]:
            require_move(moves, old, new, what="it")
        else:
            with pytest.raises(IllegalMove, match=f"cannot go from {old} to {new}"):
                require_move(moves, old, new, what="it")


def test_final_tasks_stay_as_they_are() -> None:
    """Invariant 5."""
    for state in TaskState:
        assert bool(TASK_MOVES[state]) is not state.final


def test_finished_and_canceled_jobs_stay_and_failed_ones_only_start_anew() -> None:
    """Invariant 3: what has won never runs again."""
    assert JOB_MOVES[JobState.FINISHED] == JOB_MOVES[JobState.CANCELED] == frozenset()
    assert JOB_MOVES[JobState.FAILED] == {JobState.READY}


def test_only_ready_jobs_are_leased() -> None:
    """Invariant 6: the only way from one pilot to another leads through ready."""
    assert sources(JOB_MOVES, JobState.LEASED) == [JobState.READY]
