"""What is known of workers, and what follows from it."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.bench.stragglers import best_seconds
from wms.domain.duplicate_attempts import gain, seconds_left
from wms.domain.worker_times import WorkerLimit, WorkerTimes, of_all, trust

seconds = st.floats(0.01, 10_000)


def after(*ends: float | None) -> WorkerTimes:
    """Jobs that took so long; None: one that failed."""
    times = WorkerTimes()
    for end in ends:
        times = times.failed() if end is None else times.finished(end)
    return times


@given(st.lists(seconds, min_size=1, max_size=40))
def test_what_is_typical_lies_among_the_times(ends: list[float]) -> None:
    times = after(*ends)
    assert min(ends) * 0.999 <= times.typical <= max(ends) * 1.001
    assert times.likely > times.typical
    assert times.jobs == len(ends)


def test_a_time_that_is_far_off_moves_little() -> None:
    random = Random(1)
    ends = [math.exp(random.gauss(0, 0.1)) for _ in range(50)]
    once = after(*ends, 1000.0)
    assert once.typical < 1.2
    assert once.likely < 10


def test_the_newest_count_most() -> None:
    assert after(*[1.0] * 100, *[5.0] * 60).typical == pytest.approx(5.0, rel=0.1)


@given(st.lists(st.none() | seconds, max_size=60))
def test_what_fails_is_a_share(ends: list[float | None]) -> None:
    times = after(*ends)
    assert 0.0 <= times.failing <= 1.0
    assert times.failures == ends.count(None)


def test_all_workers_together_lie_between_them() -> None:
    together = of_all([after(*[1.0] * 30), after(*[4.0] * 30)])
    assert together is not None
    assert together.typical == pytest.approx(2.0)
    assert together.likely > 4.0
    assert of_all([after(None)]) is None


def test_a_job_within_its_time_is_expected_to_take_that() -> None:
    own = after(*[10.0] * 5)
    assert seconds_left(4.0, own, None) == pytest.approx(6.0)
    assert seconds_left(10.5, own, None) == 0.0
    assert seconds_left(50.0, own, None) == 50.0, "as long again"
    assert seconds_left(4.0, None, own) == pytest.approx(6.0)
    assert seconds_left(4.0, None, None) is None


@pytest.mark.parametrize(
    ("ran", "own", "asking", "expected"),
    [
        (1.0, [10.0] * 5, [2.0] * 5, 7.0),
        (1.0, [3.0] * 5, [2.0] * 5, None),
        (9.0, [2.0] * 5, [2.0] * 5, 7.0),
        (2.2, [2.0] * 5, [2.0] * 5, None),
        (9.0, [2.0] * 5, [], 7.0),
        (9.0, [2.0] * 5, [2.0, None, None], None),
        (0.5, [0.2] * 5, [0.2] * 5, None),
    ],
)
def test_a_second_attempt_has_to_be_worth_it(
    ran: float, own: list[float], asking: list[float | None], expected: float | None
) -> None:
    known = after(*own)
    found = gain(ran, known, asking=after(*asking), anywhere=known)
    assert found == (None if expected is None else pytest.approx(expected))


def test_trust_goes_where_attempts_fail_that_succeed_elsewhere() -> None:
    good, bad = after(*[1.0] * 5), after(*[None] * 5)
    assert trust(bad, good) is WorkerLimit.NONE
    assert trust(after(*[None] * 3, *[1.0] * 5), good) is WorkerLimit.SUSPECT
    assert trust(good, bad) is WorkerLimit.FULL
    assert trust(None, good) is WorkerLimit.FULL
    assert trust(after(None, None), good) is WorkerLimit.FULL, "too few to say"
    assert trust(bad, None) is WorkerLimit.FULL, "nobody else has tried"
    assert trust(bad, after(1.0, *[None] * 5)) is WorkerLimit.FULL, "it is the work"
    assert trust(after(*[None] * 5, *[1.0] * 20), good) is WorkerLimit.FULL, "it works again"


def test_the_least_time_of_unequal_pilots() -> None:
    assert best_seconds(4, [1.0, 1.0]) == pytest.approx(2.0)
    assert best_seconds(11, [1.0, 10.0]) == pytest.approx(10.0)
    assert best_seconds(400) == pytest.approx(26.0)
