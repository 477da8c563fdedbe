"""Legal moves of tasks, jobs and pilots. The diagrams in the documentation and the all-pairs tests
are generated from here."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from sluice.contracts.states import JobState, PilotState, TaskState

StateT = TypeVar("StateT", bound=StrEnum)

#: ACTIVE → SPLITTING: the jobs of one level of a tree are done, and those of the next are to be
#: made.
TASK_MOVES: dict[TaskState, frozenset[TaskState]] = {
    TaskState.WAITING: frozenset({TaskState.SPLITTING, TaskState.FAILED, TaskState.CANCELED}),
    TaskState.SPLITTING: frozenset({TaskState.ACTIVE, TaskState.FAILED, TaskState.CANCELED}),
    TaskState.ACTIVE: frozenset(
        {TaskState.SPLITTING, TaskState.FINISHED, TaskState.FAILED, TaskState.CANCELED}
    ),
    TaskState.FINISHED: frozenset(),
    TaskState.FAILED: frozenset(),
    TaskState.CANCELED: frozenset(),
}

#: A short job is reported before a heartbeat says that it has started, so LEASED leads wherever
#: RUNNING does. FAILED → READY: a person asks for another round while the task still lives.
JOB_MOVES: dict[JobState, frozenset[JobState]] = {
    JobState.READY: frozenset({JobState.LEASED, JobState.CANCELED}),
    JobState.LEASED: frozenset(
        {
            JobState.RUNNING,
            JobState.READY,
            JobState.HELD,
            JobState.FINISHED,
            JobState.FAILED,
            JobState.CANCELED,
        }
    ),
    JobState.RUNNING: frozenset(
        {JobState.READY, JobState.HELD, JobState.FINISHED, JobState.FAILED, JobState.CANCELED}
    ),
    JobState.HELD: frozenset({JobState.READY, JobState.CANCELED}),
    JobState.FAILED: frozenset({JobState.READY}),
    JobState.FINISHED: frozenset(),
    JobState.CANCELED: frozenset(),
}

#: LOST leads back: a pilot cut off by the network goes on when it is seen again. GONE → ACTIVE: it
#: registered anew.
PILOT_MOVES: dict[PilotState, frozenset[PilotState]] = {
    PilotState.ACTIVE: frozenset({PilotState.DRAINING, PilotState.GONE, PilotState.LOST}),
    PilotState.DRAINING: frozenset({PilotState.ACTIVE, PilotState.GONE, PilotState.LOST}),
    PilotState.LOST: frozenset({PilotState.ACTIVE, PilotState.DRAINING, PilotState.GONE}),
    PilotState.GONE: frozenset({PilotState.ACTIVE}),
}


class IllegalMove(Exception):
    """A program error: the life cycle has no such move."""

    def __init__(self, what: str, old: StrEnum, new: StrEnum) -> None:
        super().__init__(f"{what} cannot go from {old} to {new}")
        self.what = what
        self.old = old
        self.new = new


def require_move(
    moves: Mapping[StateT, frozenset[StateT]], old: StateT, new: StateT, *, what: str
) -> None:
    """Raises ``IllegalMove`` unless ``moves`` has old → new."""
    if new not in moves[old]:
        raise IllegalMove(what, old, new)


def sources(moves: Mapping[StateT, frozenset[StateT]], target: StateT) -> list[StateT]:
    """The states from which ``target`` may be entered, for guarded UPDATEs."""
    return [state for state, targets in moves.items() if target in targets]
