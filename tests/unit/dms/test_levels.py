"""Water marks: when a storage counts as filling, and which marks it can have."""

import pytest

from dms.domain.levels import fills, objection
from sluice.contracts.datasets import WaterMarks

SHARES = WaterMarks(low=0.5, high=0.8)
BYTES = WaterMarks(low=500, high=800)


@pytest.mark.parametrize(("marks", "capacity"), [(SHARES, 1000), (BYTES, 1000), (BYTES, None)])
def test_it_fills_from_the_high_mark_until_it_is_below_the_low_one(marks: WaterMarks, capacity: int | None) -> None:
    levels = [0, 799, 800, 801, 600, 500, 499, 600, 799, 800]
    filling, found = False, []
    for used in levels:
        filling = fills(used, marks, capacity, before=filling)
        found.append(filling)
    assert found == [False, False, True, True, True, True, False, False, False, True]


@pytest.mark.parametrize(
    ("low", "high", "capacity", "why"),
    [
        (0.5, 0.8, None, "shares of its capacity, and it has none"),
        (500, 0.8, None, "shares of its capacity, and it has none"),
        (0.8, 0.5, 1000, "the wrong way round: 800 bytes is no less than 500"),
        (0.5, 500, 1000, "the wrong way round"),
        (0.5, 2000, 1000, "cannot be reached: 2000 bytes, and it holds 1000"),
        (0.5, 1, 1000, ""),
        (2, 700, None, ""),
    ],
)
def test_marks_fit_the_capacity(low: float, high: float, capacity: int | None, why: str) -> None:
    told = objection(WaterMarks(low=low, high=high), capacity)
    assert why in told
    assert bool(told) == bool(why)
