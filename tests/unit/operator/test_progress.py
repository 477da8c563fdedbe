"""Progress of chains: why steps wait, and what failed."""

from uuid import UUID, uuid4

from sluice.contracts.chains.chains import ChainStep
from sluice.contracts.common.states import ChainState, StepState, TaskState
from tests.unit.operator.chains import make_chain, make_status
from wfms.operator.chains.domain.progress import Shortfall, chain_progress
from wfms.operator.web.domain.progress_bar import (
    describe_shortfall,
    get_shortfall_style,
    get_step_style,
)


def test_note_of_a_step_says_why_it_does_not_run() -> None:
    uid = uuid4()
    steps = [
        ChainStep(name="a", state=StepState.FAILED, task_uid=uid, reason="9 of 60 jobs failed"),
        ChainStep(name="b", state=StepState.PENDING),
    ]
    assert [
        step.note for step in chain_progress(make_chain(ChainState.FAILED, *steps), {}).steps
    ] == [
        "9 of 60 jobs failed",
        "never began",
    ]
    running = make_chain(
        ChainState.IN_PROGRESS,
        ChainStep(name="a", state=StepState.IN_PROGRESS, task_uid=uid),
        steps[1],
    )
    assert [step.note for step in chain_progress(running, {}).steps] == [
        "on its way to the WMS",
        "waits for the step before it",
    ]
    waiting = make_status(uid).model_copy(update={"state": TaskState.WAITING})
    assert (
        chain_progress(running, {str(uid): waiting}).steps[0].note
        == "waits until its input is complete"
    )


def test_failed_chain_shows_the_reason_of_its_step() -> None:
    failed = make_chain(
        ChainState.FAILED,
        ChainStep(name="a", state=StepState.FAILED, reason="its input has no files"),
    )
    assert chain_progress(failed, {}).reason == "step a: its input has no files"


def test_finished_chain_with_failed_jobs_shows_a_shortfall() -> None:
    some, none, well = (uuid4() for _ in range(3))
    statuses = (
        make_status(some, finished=3, failed=2),
        make_status(none, failed=4),
        make_status(well, finished=5),
    )
    tasks = {str(counted.uid): counted for counted in statuses}

    def finished(*uids: UUID) -> list[ChainStep]:
        return [ChainStep(name="a", state=StepState.FINISHED, task_uid=uid) for uid in uids]

    both = chain_progress(make_chain(ChainState.FINISHED, *finished(well, some, none)), tasks)
    assert [get_step_style(step) for step in both.steps] == ["finished", "short", "void"]
    assert both.shortfall == Shortfall(6, nothing=True)
    assert describe_shortfall(both.shortfall) == "6 jobs failed, none finished"
    part = chain_progress(make_chain(ChainState.FINISHED, *finished(well, some)), tasks)
    assert part.shortfall is not None
    assert describe_shortfall(part.shortfall) == "2 jobs failed"
    assert get_shortfall_style(part.shortfall) == "short"
    assert chain_progress(make_chain(ChainState.FINISHED, *finished(well)), tasks).shortfall is None
    assert (
        chain_progress(make_chain(ChainState.CANCELED, *finished(some)), tasks).shortfall is None
    ), "a canceled chain shows no shortfall"
