"""State transitions of tasks and jobs."""

from sluice.contracts.common.life_cycles import states_before
from sluice.contracts.common.states import JobState, TaskState
from wms.domain.transitions import JOB_MOVES, TASK_MOVES


def test_final_tasks_have_no_transitions() -> None:
    """Invariant 5."""
    for state in TaskState:
        assert bool(TASK_MOVES[state]) is not state.final


def test_finished_and_canceled_jobs_are_final_and_failed_jobs_may_start_again() -> None:
    """Invariant 3: a job that has succeeded never runs again."""
    assert JOB_MOVES[JobState.FINISHED] == JOB_MOVES[JobState.CANCELED] == frozenset()
    assert JOB_MOVES[JobState.FAILED] == {JobState.READY, JobState.ASKED}


def test_only_ready_jobs_are_leased() -> None:
    """Invariant 6: a job moves from one pilot to another only through ready."""
    assert states_before(JOB_MOVES, JobState.LEASED) == [JobState.READY]
