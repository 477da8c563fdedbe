"""What the life cycles of tasks and jobs mean."""

from sluice.contracts.life_cycles import states_before
from sluice.contracts.states import JobState, TaskState
from wms.domain.transitions import JOB_MOVES, TASK_MOVES


def test_final_tasks_stay_as_they_are() -> None:
    """Invariant 5."""
    for state in TaskState:
        assert bool(TASK_MOVES[state]) is not state.final


def test_finished_and_canceled_jobs_stay_and_failed_ones_only_start_anew() -> None:
    """Invariant 3: what has won never runs again."""
    assert JOB_MOVES[JobState.FINISHED] == JOB_MOVES[JobState.CANCELED] == frozenset()
    assert JOB_MOVES[JobState.FAILED] == {JobState.READY, JobState.ASKED}


def test_only_ready_jobs_are_leased() -> None:
    """Invariant 6: the only way from one pilot to another leads through ready."""
    assert states_before(JOB_MOVES, JobState.LEASED) == [JobState.READY]
