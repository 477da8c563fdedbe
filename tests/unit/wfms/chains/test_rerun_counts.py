"""Number of jobs that a rerun announces before it starts."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from sluice.contracts.common.states import TaskMode, TaskState
from sluice.contracts.jobs.tasks import TaskStatus
from sluice.contracts.templates.plan import Plan, Source
from tests.unit.wfms.chains.plans import make_plan, make_step
from wfms.chains.domain.rerun import Rerun, RerunRequest
from wfms.chains.domain.rerun_counts import describe_rerun_step

CHAIN, INPUT = UUID(int=1), UUID(int=2)
TWO: Plan = make_plan(
    make_step("upper"),
    make_step("number", Source(step="upper", port="out")),
    outputs=[("number", "out")],
)


def make_status(name: str, state: TaskState, finished: int, *, failed: int = 0) -> TaskStatus:
    return TaskStatus(
        uid=UUID(int=3),
        chain_uid=CHAIN,
        step=name,
        template="wf",
        state=state,
        mode=TaskMode.MAP,
        rank=0,
        created_at=datetime.now(UTC),
        total=finished + failed,
        finished=finished,
        failed=failed,
        **dict.fromkeys(("ready", "leased", "running", "canceled", "quarantined"), 0),
    )


def count_announced_jobs(
    *statuses: TaskStatus, runs: str = "upper number", by_jobs: str = "", cut: int = 1
) -> dict[str, tuple[int | None, int]]:
    """Return the numbers of jobs and of jobs taken over for each step that runs."""
    rerun = Rerun(
        runs=dict.fromkeys(runs.split(), "asked for"),
        by_jobs=frozenset(by_jobs.split()),
        reads=frozenset(),
        missing=(),
    )
    request = RerunRequest(CHAIN, INPUT, {"cut": 1}, {"cut": cut})
    counts = {one.step: one for one in statuses}
    steps = [describe_rerun_step(rerun, request, one, counts) for one in TWO.steps]
    return {one.name: (one.jobs, one.taken) for one in steps if one.runs}


def test_rerun_of_a_finished_step_announces_the_same_number_of_jobs() -> None:
    first_status = [make_status(one, TaskState.FINISHED, 30) for one in ("upper", "number")]
    assert count_announced_jobs(*first_status) == {"upper": (30, 0), "number": (30, 0)}
    assert count_announced_jobs(*first_status, runs="number") == {"number": (30, 0)}


def test_jobs_taken_over_are_not_announced_as_jobs_to_run() -> None:
    first_status = make_status("upper", TaskState.FAILED, 28, failed=2)
    number = make_status("number", TaskState.FINISHED, 29, failed=1)
    assert count_announced_jobs(first_status, runs="upper", by_jobs="upper") == {"upper": (2, 28)}
    assert count_announced_jobs(number, runs="number", by_jobs="number") == {"number": (1, 29)}


@pytest.mark.parametrize(
    ("first_status", "number"),
    [
        (make_status("upper", TaskState.FINISHED, 29, failed=1), TaskState.FINISHED),
        (make_status("upper", TaskState.FINISHED, 30), TaskState.CANCELED),
        (make_status("upper", TaskState.FAILED, 28, failed=2), TaskState.CANCELED),
    ],
)
def test_step_that_will_get_more_input_has_an_unknown_number_of_jobs(
    first_status: TaskStatus, number: TaskState
) -> None:
    jobs_by_step = count_announced_jobs(
        first_status, make_status("number", number, 27), by_jobs="upper number"
    )
    assert jobs_by_step["number"] == (None, 27)


def test_step_with_new_input_takes_over_no_jobs() -> None:
    first_status = make_status("upper", TaskState.FINISHED, 29, failed=1)
    number = make_status("number", TaskState.FINISHED, 29)
    assert count_announced_jobs(first_status, number, by_jobs="number", cut=2) == {
        "upper": (30, 0),
        "number": (None, 0),
    }


def test_downstream_of_changed_parameters_has_an_unknown_number_of_jobs() -> None:
    first_status = [make_status(one, TaskState.FINISHED, 30) for one in ("upper", "number")]
    assert count_announced_jobs(*first_status, cut=2) == {"upper": (30, 0), "number": (None, 0)}


def test_number_of_jobs_without_status_is_unknown() -> None:
    assert count_announced_jobs() == {"upper": (None, 0), "number": (None, 0)}
    assert count_announced_jobs(make_status("upper", TaskState.FINISHED, 30))["number"] == (None, 0)
