"""Numbers in sentences."""

import pytest

from sluice.contracts.common.numbers import conjugate, format_count, in_full


@pytest.mark.parametrize(("number", "text"), [(0, "0 files"), (1, "1 file"), (2, "2 files")])
def test_counted_noun_is_singular_only_after_one(number: int, text: str) -> None:
    assert format_count(number, "file") == text


def test_thousands_are_grouped_only_on_request() -> None:
    assert format_count(1204, "job") == "1204 jobs"
    assert format_count(1204, "job", grouped=True) == "1\u202f204 jobs"
    assert format_count(2, "was", "were") == "2 were"


@pytest.mark.parametrize(("number", "text"), [(0, "wait"), (1, "waits"), (2, "wait")])
def test_verb_is_singular_only_after_one(number: int, text: str) -> None:
    assert conjugate(number, "wait") == text


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
