"""Numbers in sentences."""

import pytest

from sluice.contracts.common.numbers import format_count, in_full


@pytest.mark.parametrize(("number", "text"), [(0, "0 files"), (1, "1 file"), (2, "2 files")])
def test_counted_noun_is_singular_only_after_one(number: int, text: str) -> None:
    assert format_count(number, "file") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (90_000_000, "90000000"),
        (1e6, "1000000"),
        (1234567.0, "1234567"),
        (0.5, "0.5"),
        (-2.0, "-2"),
        (1e20, "1e+20"),
    ],
)
def test_whole_numbers_keep_their_digits(value: float, text: str) -> None:
    assert in_full(value) == text
