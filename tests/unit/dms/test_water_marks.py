"""Water marks: when a storage counts as filling, and which marks it can have."""

import re

import pytest

from dms.domain.water_marks import fills, held, marks_objection
from sluice.contracts.datasets import WaterMarks

SHARES = WaterMarks(low=0.5, high=0.8)
BYTES = WaterMarks(low=500, high=800)


@pytest.mark.parametrize(("marks", "capacity"), [(SHARES, 1000), (BYTES, 1000), (BYTES, None)])
def test_it_fills_from_the_high_mark_until_it_is_below_the_low_one(
    marks: WaterMarks, capacity: int | None
) -> None:
    levels = [0, 799, 800, 801, 600, 500, 499, 600, 799, 800]
    filling, found = False, []
    for used in levels:
        filling = fills(used, marks, most=capacity, before=filling)
        found.append(filling)
    assert found == [False, False, True, True, True, True, False, False, False, True]


@pytest.mark.parametrize(
    ("low", "high", "capacity", "why"),
    [
        (0.5, 0.8, None, "shares of what it may hold, and that is not known: .* give bytes"),
        (500, 0.8, None, "shares of what it may hold"),
        (0.8, 0.5, 1000, "the wrong way round: 800 bytes is no less than 500"),
        (0.5, 500, 1000, "the wrong way round"),
        (0.5, 2000, 1000, "cannot be reached: 2000 bytes, and it holds 1000"),
        (0.5, 1, 1000, ""),
        (2, 700, None, ""),
    ],
)
def test_marks_fit_the_capacity(low: float, high: float, capacity: int | None, why: str) -> None:
    told = marks_objection(WaterMarks(low=low, high=high), capacity, most=capacity)
    assert re.search(why, told)
    assert bool(told) == bool(why)


def test_without_a_capacity_shares_are_of_what_is_there_and_what_is_free() -> None:
    assert held(None, used=300, free=700.0) == 1000
    assert held(500, used=300, free=700.0) == 500, "what was declared counts"
    assert held(None, used=300, free=None) is None
    assert marks_objection(SHARES, None, most=1000) == ""
    assert marks_objection(WaterMarks(low=0.5, high=400), None, most=1000).startswith(
        "are the wrong way round: 500 bytes"
    )
    assert marks_objection(WaterMarks(low=10, high=2000), None, most=1000) == "", (
        "the file system may have more room one day"
    )


@pytest.mark.parametrize("before", [True, False])
def test_what_cannot_be_told_is_as_it_was(before: bool) -> None:
    assert fills(900, SHARES, most=None, before=before) is before
