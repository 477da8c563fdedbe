"""Statistics of pilots, and decisions that use them."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.stragglers import compute_best_seconds
from wms.domain.scheduling.duplicate_attempts import estimate_gain, estimate_remaining_seconds
from wms.domain.scheduling.pilot_times import (
    PilotLimit,
    PilotTimes,
    combine_times,
    decide_pilot_limit,
)

seconds = st.floats(0.01, 10_000)


def make_times_after(*ends: float | None) -> PilotTimes:
    """Return the statistics after jobs of these durations; None is a failed job."""
    times = PilotTimes()
    for end in ends:
        times = times.failed() if end is None else times.finished(end)
    return times


@given(st.lists(seconds, min_size=1, max_size=40))
def test_typical_time_lies_within_the_range_of_times(ends: list[float]) -> None:
    times = make_times_after(*ends)
    assert min(ends) * 0.999 <= times.typical <= max(ends) * 1.001
    assert times.likely > times.typical
    assert times.jobs == len(ends)


def test_outlier_changes_the_typical_time_little() -> None:
    random = Random(1)
    ends = [math.exp(random.gauss(0, 0.1)) for _ in range(50)]
    once = make_times_after(*ends, 1000.0)
    assert once.typical < 1.2
    assert once.likely < 10


def test_newest_times_have_the_highest_weight() -> None:
    assert make_times_after(*[1.0] * 100, *[5.0] * 60).typical == pytest.approx(5.0, rel=0.1)


@given(st.lists(st.none() | seconds, max_size=60))
def test_failure_rate_lies_between_zero_and_one(ends: list[float | None]) -> None:
    times = make_times_after(*ends)
    assert 0.0 <= times.failing <= 1.0
    assert times.failures == ends.count(None)


def test_typical_time_of_all_pilots_lies_between_their_times() -> None:
    together = combine_times([make_times_after(*[1.0] * 30), make_times_after(*[4.0] * 30)])
    assert together is not None
    assert together.typical == pytest.approx(2.0)
    assert together.likely > 4.0
    assert combine_times([make_times_after(None)]) is None


def test_remaining_time_follows_from_the_typical_time() -> None:
    own = make_times_after(*[10.0] * 5)
    assert estimate_remaining_seconds(4.0, own, None) == pytest.approx(6.0)
    assert estimate_remaining_seconds(10.5, own, None) == 0.0
    assert estimate_remaining_seconds(50.0, own, None) == 50.0, (
        "an overdue job is expected to take as long again"
    )
    assert estimate_remaining_seconds(4.0, None, own) == pytest.approx(6.0)
    assert estimate_remaining_seconds(4.0, None, None) is None


@pytest.mark.parametrize(
    ("ran", "own", "requesting", "expected"),
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
def test_duplicate_attempt_must_bring_a_gain(
    ran: float, own: list[float], requesting: list[float | None], expected: float | None
) -> None:
    own_times = make_times_after(*own)
    gain = estimate_gain(
        ran, own_times, requesting_times=make_times_after(*requesting), anywhere=own_times
    )
    assert gain == (None if expected is None else pytest.approx(expected))


def test_pilot_is_limited_if_its_attempts_fail_and_succeed_elsewhere() -> None:
    good, bad = make_times_after(*[1.0] * 5), make_times_after(*[None] * 5)
    assert decide_pilot_limit(bad, good) is PilotLimit.NONE
    assert decide_pilot_limit(make_times_after(*[None] * 3, *[1.0] * 5), good) is PilotLimit.SUSPECT
    assert decide_pilot_limit(good, bad) is PilotLimit.FULL
    assert decide_pilot_limit(None, good) is PilotLimit.FULL
    assert decide_pilot_limit(make_times_after(None, None), good) is PilotLimit.FULL, (
        "too few failures"
    )
    assert decide_pilot_limit(bad, None) is PilotLimit.FULL, "no other pilot has tried"
    assert decide_pilot_limit(bad, make_times_after(1.0, *[None] * 5)) is PilotLimit.FULL, (
        "the work itself fails"
    )
    assert (
        decide_pilot_limit(make_times_after(*[None] * 5, *[1.0] * 20), good) is PilotLimit.FULL
    ), "the pilot works again"


def test_best_time_of_unequal_pilots_is_computed() -> None:
    assert compute_best_seconds(4, [1.0, 1.0]) == pytest.approx(2.0)
    assert compute_best_seconds(11, [1.0, 10.0]) == pytest.approx(10.0)
    assert compute_best_seconds(400) == pytest.approx(26.0)
