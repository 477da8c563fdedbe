"""How many jobs a rerun is said to run, before it does."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from sluice.contracts.plan import Plan, Source
from sluice.contracts.states import TaskMode, TaskState
from sluice.contracts.tasks import TaskStatus
from tests.unit.wfms.chains.plans import plan, step
from wfms.chains.domain.rerun import Rerun, RerunRequest
from wfms.chains.domain.rerun_counts import step_of_rerun

CHAIN, INPUT = UUID(int=1), UUID(int=2)
TWO: Plan = plan(
    step("upper"), step("number", Source(step="upper", port="out")), outputs=[("number", "out")]
)


def status(name: str, state: TaskState, finished: int, *, failed: int = 0) -> TaskStatus:
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
        **dict.fromkeys(("ready", "leased", "running", "canceled", "held"), 0),
    )


def told(
    *statuses: TaskStatus, runs: str = "upper number", by_jobs: str = "", cut: int = 1
) -> dict[str, tuple[int | None, int]]:
    """Jobs and those taken over, of the steps that run."""
    rerun = Rerun(
        runs=dict.fromkeys(runs.split(), "asked for"),
        by_jobs=frozenset(by_jobs.split()),
        reads=frozenset(),
        missing=(),
    )
    wish = RerunRequest(CHAIN, INPUT, {"cut": 1}, {"cut": cut})
    counts = {one.step: one for one in statuses}
    found = [step_of_rerun(rerun, wish, one, counts) for one in TWO.steps]
    return {one.name: (one.jobs, one.taken) for one in found if one.runs}


def test_what_finished_with_all_its_jobs_is_said_to_have_as_many() -> None:
    done = [status(one, TaskState.FINISHED, 30) for one in ("upper", "number")]
    assert told(*done) == {"upper": (30, 0), "number": (30, 0)}
    assert told(*done, runs="number") == {"number": (30, 0)}


def test_jobs_that_are_taken_over_are_not_run() -> None:
    upper = status("upper", TaskState.FAILED, 28, failed=2)
    number = status("number", TaskState.FINISHED, 29, failed=1)
    assert told(upper, runs="upper", by_jobs="upper") == {"upper": (2, 28)}
    assert told(number, runs="number", by_jobs="number") == {"number": (1, 29)}


@pytest.mark.parametrize(
    ("upper", "number"),
    [
        (status("upper", TaskState.FINISHED, 29, failed=1), TaskState.FINISHED),
        (status("upper", TaskState.FINISHED, 30), TaskState.CANCELED),
        (status("upper", TaskState.FAILED, 28, failed=2), TaskState.CANCELED),
    ],
)
def test_a_step_that_will_be_given_more_is_not_said_to_have_as_many(
    upper: TaskStatus, number: TaskState
) -> None:
    found = told(upper, status("number", number, 27), by_jobs="upper number")
    assert found["number"] == (None, 27)


def test_of_what_is_made_anew_no_job_is_taken_over() -> None:
    upper = status("upper", TaskState.FINISHED, 29, failed=1)
    number = status("number", TaskState.FINISHED, 29)
    assert told(upper, number, by_jobs="number", cut=2) == {"upper": (30, 0), "number": (None, 0)}


def test_other_parameters_may_make_it_more_or_less() -> None:
    done = [status(one, TaskState.FINISHED, 30) for one in ("upper", "number")]
    assert told(*done, cut=2) == {"upper": (30, 0), "number": (None, 0)}


def test_nothing_is_said_of_what_is_not_known() -> None:
    assert told() == {"upper": (None, 0), "number": (None, 0)}
    assert told(status("upper", TaskState.FINISHED, 30))["number"] == (None, 0)
