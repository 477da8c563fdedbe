"""Bars that show the jobs of tasks."""

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.operator.chains import make_status
from wfms.operator.web.domain.progress_bar import BarPart, count_jobs_by_part, find_job_counts


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


def test_task_without_jobs_has_no_bar() -> None:
    assert find_job_counts(None) is None
    assert find_job_counts(make_status()) is None
    counts = find_job_counts(make_status(finished=1))
    assert counts is not None
    assert counts.total == 1
