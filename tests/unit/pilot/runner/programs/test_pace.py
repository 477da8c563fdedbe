"""Test of how often the resource usage of a job is measured."""

import time

import pytest

from pilot.runner.programs.program import next_check


@pytest.mark.parametrize(("took", "pause"), [(0.0, 1.0), (0.02, 1.0), (0.1, 2.0), (3600.0, 10.0)])
def test_slow_measurement_is_followed_by_a_longer_pause_within_bounds(
    took: float, pause: float
) -> None:
    now = time.monotonic()
    assert next_check(now - took, 1.0) - now == pytest.approx(pause, abs=0.2)
