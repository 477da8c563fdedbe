"""Histograms of the times of many jobs."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wms.domain.times import Sample, TimeKind, find_bin, get_bin_bounds, parse_sample, read_samples

SECONDS = st.floats(0, 1e7, allow_subnormal=False)


@given(SECONDS)
def test_time_lies_within_the_bounds_of_its_size_class(seconds: float) -> None:
    low, high = get_bin_bounds(find_bin(seconds))
    assert low * (1 - 1e-9) <= seconds <= high * (1 + 1e-9)


@given(st.lists(SECONDS, min_size=1, max_size=30), st.integers(0, 30))
def test_added_samples_equal_one_sample_after_a_round_trip_through_json(
    times: list[float], cut: int
) -> None:
    whole, parts = Sample(), [Sample(), Sample()]
    for number, seconds in enumerate(times):
        whole.add_one(seconds)
        parts[number < cut].add_one(seconds)
    together = parse_sample(parts[0].to_json()) if parts[0].count else Sample()
    together.add(parts[1])
    assert (together.count, together.sizes) == (whole.count, whole.sizes)
    assert together.total == pytest.approx(sum(times))
    spread = together.spread()
    assert spread is not None
    assert spread.least == min(times) <= spread.median <= spread.p90 <= spread.p99 <= spread.most
    assert spread.most == max(times)


def test_quantiles_are_exact_to_five_percent() -> None:
    draw = random.Random(7)
    times = sorted(draw.lognormvariate(1, 1.5) for _ in range(20_000))
    sample = Sample()
    for seconds in times:
        sample.add_one(seconds)
    for share in (0.1, 0.5, 0.9, 0.99):
        assert sample.quantile(share) == pytest.approx(times[int(share * len(times))], rel=0.05)
    spread = sample.spread()
    assert spread is not None
    assert spread.mean == pytest.approx(sum(times) / len(times))
    variance = sum((seconds - spread.mean) ** 2 for seconds in times) / len(times)
    assert spread.deviation == pytest.approx(variance**0.5)
    assert len(sample.sizes) < 200, "the histogram grows with the number of jobs"


def test_empty_sample_has_no_spread() -> None:
    assert Sample().spread() is None
    assert read_samples([]) == {}


def test_database_rows_become_samples() -> None:
    row = {"kind": "working", "size": find_bin(2.0), "count": 3, "total": 6.0, "squares": 12.0}
    samples = read_samples([{**row, "least": 2.0, "most": 2.0}])
    assert samples[TimeKind.WORKING].quantile(0.5) == 2.0
    assert samples[TimeKind.WORKING].mean == 2.0
