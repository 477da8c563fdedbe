"""Progress of chains: counts and bars."""

from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st

from sluice.contracts.chains.chains import ChainStep
from sluice.contracts.common.states import ChainState, StepState, TaskState
from tests.unit.operator.chains import make_chain, make_status
from wfms.operator.chains.domain.progress import (
    BarPart,
    Shortfall,
    chain_progress,
    count_jobs_by_part,
)


@given(st.lists(st.integers(0, 2_000_000), min_size=8, max_size=8).filter(any))
def test_segments_of_a_bar_fill_it_without_gap_or_overlap(numbers: list[int]) -> None:
    names = ("ready", "leased", "running", "finished", "failed", "canceled", "quarantined", "asked")
    segments = count_jobs_by_part(make_status(**dict(zip(names, numbers, strict=True)))).segments()
    assert sum(segment.jobs for segment in segments) == sum(numbers)
    end = 0.0
    for segment in segments:
        assert abs(segment.start - end) < 0.01
        end = segment.start + segment.share
    assert abs(end - 100) < 0.01


def test_sentence_of_a_bar_names_each_part() -> None:
    counts = count_jobs_by_part(make_status(finished=48, failed=1, leased=1, running=3, ready=7))
    assert counts.sentence == "48 of 60 jobs finished, 1 failed, 4 with pilots, 7 waiting"
    assert counts.done == 49
    assert counts.by_part[BarPart.RUNNING] == 4


def test_items_that_wait_for_annotators_are_counted_separately() -> None:
    counts = count_jobs_by_part(make_status(finished=1, asked=4))
    assert counts.sentence == "1 of 5 jobs finished, 4 asked of people"
    assert counts.done == 1


def test_killed_jobs_are_shown_beside_canceled_jobs() -> None:
    of_task = make_status(finished=1, canceled=9).model_copy(update={"killed": 2})
    assert count_jobs_by_part(of_task).sentence == "1 of 10 jobs finished, 9 canceled (2 killed)"
    assert (
        count_jobs_by_part(of_task.model_copy(update={"killed": 0})).sentence
        == "1 of 10 jobs finished, 9 canceled"
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
    assert [step.tone for step in both.steps] == ["finished", "short", "void"]
    assert both.shortfall == Shortfall(6, nothing=True)
    assert both.shortfall.sentence == "6 jobs failed, none finished"
    assert both.shortfall.label == "incomplete"
    part = chain_progress(make_chain(ChainState.FINISHED, *finished(well, some)), tasks)
    assert part.shortfall is not None
    assert (part.shortfall.sentence, part.shortfall.tone) == ("2 jobs failed", "short")
    assert chain_progress(make_chain(ChainState.FINISHED, *finished(well)), tasks).shortfall is None
    assert (
        chain_progress(make_chain(ChainState.CANCELED, *finished(some)), tasks).shortfall is None
    ), "a canceled chain shows no shortfall"
