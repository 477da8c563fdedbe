"""Conditions under which a task ends, and its final state."""

from hypothesis import given
from hypothesis import strategies as st

from sluice.contracts.common.states import TaskState
from sluice.contracts.templates.plan import Boundary
from wms.domain.task_completion import JobCounts, count_needed_jobs, decide_ending

shares = st.floats(0, 1)
numbers = st.integers(0, 40)
counts = st.builds(
    JobCounts,
    ready=numbers,
    leased=numbers,
    running=numbers,
    finished=numbers,
    failed=numbers,
    canceled=st.just(0),
    quarantined=numbers,
    asked=numbers,
)


@st.composite
def draw_boundary(draw: st.DrawFn) -> Boundary:
    return Boundary(minimum=draw(shares), sufficient=draw(shares))


def decide_state(boundary: Boundary, counts: JobCounts) -> TaskState | None:
    decided = decide_ending(boundary, counts)
    return None if decided is None else decided.state


def test_shares_are_rounded_up_without_binary_errors() -> None:
    assert [
        count_needed_jobs(0.1, 10),
        count_needed_jobs(0.1, 11),
        count_needed_jobs(0.7, 10),
        count_needed_jobs(1.0, 3),
        count_needed_jobs(0.0, 3),
    ] == [
        1,
        2,
        7,
        3,
        0,
    ]
    assert count_needed_jobs(0.07, 100) == 7


def test_all_jobs_must_succeed_by_default() -> None:
    default = Boundary()
    assert decide_state(default, JobCounts(ready=1, finished=9)) is None
    assert decide_state(default, JobCounts(finished=10)) is TaskState.FINISHED
    assert decide_state(default, JobCounts(ready=8, finished=1, failed=1)) is TaskState.FAILED
    assert decide_state(default, JobCounts()) is TaskState.FINISHED


def test_sufficient_share_ends_a_task_early_and_minimum_decides_at_the_end() -> None:
    boundary = Boundary(minimum=0.5, sufficient=0.8)
    assert decide_state(boundary, JobCounts(ready=3, finished=7)) is None
    assert decide_state(boundary, JobCounts(ready=2, finished=8)) is TaskState.FINISHED
    assert decide_state(boundary, JobCounts(finished=5, failed=5)) is TaskState.FINISHED
    assert decide_state(boundary, JobCounts(finished=4, failed=6)) is TaskState.FAILED


def test_sufficient_share_below_the_minimum_has_no_effect() -> None:
    assert (
        decide_state(Boundary(minimum=0.9, sufficient=0.1), JobCounts(ready=5, finished=5)) is None
    )


def test_quarantined_jobs_count_only_while_they_can_change_the_outcome() -> None:
    boundary = Boundary(minimum=0.5, sufficient=1.0)
    assert decide_state(boundary, JobCounts(finished=4, quarantined=6)) is None
    assert decide_state(boundary, JobCounts(finished=5, quarantined=5)) is TaskState.FINISHED
    assert decide_state(boundary, JobCounts(finished=5, ready=1, quarantined=4)) is None


def test_majority_of_errors_cancels_a_task_only_if_its_minimum_is_at_least_half() -> None:
    strict, lenient = Boundary(minimum=0.5, sufficient=1.0), Boundary(minimum=0.4, sufficient=1.0)
    bad = JobCounts(ready=100, finished=9, failed=11)
    assert decide_state(strict, bad) is TaskState.CANCELED
    assert decide_state(lenient, bad) is None
    assert decide_state(strict, JobCounts(ready=100, finished=8, failed=11)) is None
    assert decide_state(strict, JobCounts(ready=100, finished=10, failed=10)) is None


def test_reasons_contain_the_numbers_of_jobs() -> None:
    decided = decide_ending(Boundary(minimum=0.8), JobCounts(ready=7, failed=3))
    assert decided is not None
    assert decided.reason == (
        "3 of 10 jobs failed, so that the 8 that must succeed (minimum 0.8 of them,"
        " sluice:boundary) cannot be reached"
    )
    for counts, why in (
        (JobCounts(ready=6, failed=1), "1 of 7 jobs failed; all 7 must succeed"),
        (JobCounts(ready=1, failed=1), "1 of 2 jobs failed; both must succeed"),
        (JobCounts(failed=1), "1 of 1 job failed; it must succeed"),
    ):
        decided = decide_ending(Boundary(), counts)
        assert decided is not None
        assert decided.reason == f"{why} (sluice:boundary lets a step continue without some)"
    decided = decide_ending(
        Boundary(minimum=0.5, sufficient=0.8), JobCounts(ready=1, failed=1, finished=8)
    )
    assert decided is not None
    assert decided.reason == "8 of 10 jobs finished, 1 failed, 1 canceled, because 8 are sufficient"


@given(draw_boundary(), counts)
def test_task_without_open_or_quarantined_jobs_has_ended(
    boundary: Boundary, counts: JobCounts
) -> None:
    """Invariant 5: each task ends exactly once."""
    if not counts.open and not counts.quarantined:
        assert decide_ending(boundary, counts) is not None


@given(draw_boundary(), counts)
def test_final_state_agrees_with_the_boundary(boundary: Boundary, counts: JobCounts) -> None:
    """A task finishes only with the minimum reached, and fails only if it cannot be reached."""
    decided, minimum = (
        decide_ending(boundary, counts),
        count_needed_jobs(boundary.minimum, counts.total),
    )
    reachable = counts.finished + counts.open + counts.quarantined
    if decided is None:
        assert reachable >= minimum
    elif decided.state is TaskState.FINISHED:
        assert counts.finished >= minimum
    elif decided.state is TaskState.FAILED:
        assert counts.total == 0 or reachable < minimum
    else:
        assert counts.failed > counts.finished
