"""Watermarks of storages: valid marks, and the state in which a storage fills up."""

import re

import pytest

from dms.domain.watermarks import effective_capacity, fills, find_rejection_reason
from sluice.contracts.data.datasets import Watermarks

SHARES = Watermarks(low=0.5, high=0.8)
BYTES = Watermarks(low=500, high=800)


@pytest.mark.parametrize(("marks", "capacity"), [(SHARES, 1000), (BYTES, 1000), (BYTES, None)])
def test_storage_is_filling_from_the_high_mark_until_below_the_low_mark(
    marks: Watermarks, capacity: int | None
) -> None:
    levels = [0, 799, 800, 801, 600, 500, 499, 600, 799, 800]
    filling, states = False, []
    for used in levels:
        filling = fills(used, marks, total=capacity, before=filling)
        states.append(filling)
    assert states == [False, False, True, True, True, True, False, False, False, True]


@pytest.mark.parametrize(
    ("low", "high", "capacity", "why"),
    [
        (0.5, 0.8, None, "shares of its capacity, which is not known: .* give bytes"),
        (500, 0.8, None, "shares of its capacity"),
        (0.8, 0.5, 1000, "the wrong way round: 800 bytes is not less than 500"),
        (0.5, 500, 1000, "the wrong way round"),
        (0.5, 2000, 1000, "cannot be reached: 2000 bytes is more than its capacity of 1000"),
        (0.5, 1, 1000, ""),
        (2, 700, None, ""),
    ],
)
def test_watermarks_must_fit_the_capacity(
    low: float, high: float, capacity: int | None, why: str
) -> None:
    rejection_reason = find_rejection_reason(
        Watermarks(low=low, high=high), capacity, total=capacity
    )
    assert re.search(why, rejection_reason)
    assert bool(rejection_reason) == bool(why)


def test_shares_without_capacity_refer_to_used_and_free_space() -> None:
    assert effective_capacity(None, used_bytes=300, free=700.0) == 1000
    assert effective_capacity(500, used_bytes=300, free=700.0) == 500, (
        "a declared capacity takes precedence"
    )
    assert effective_capacity(None, used_bytes=300, free=None) is None
    assert find_rejection_reason(SHARES, None, total=1000) == ""
    assert find_rejection_reason(Watermarks(low=0.5, high=400), None, total=1000).startswith(
        "are the wrong way round: 500 bytes"
    )
    assert find_rejection_reason(Watermarks(low=10, high=2000), None, total=1000) == "", (
        "the file system may grow"
    )


@pytest.mark.parametrize("before", [True, False])
def test_unknown_fill_level_keeps_the_state(before: bool) -> None:
    assert fills(900, SHARES, total=None, before=before) is before
