"""Tests of the numbers that tools get."""

import pytest

from sluice.text.numbers import fit_whole_number, read_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.23e5", "123000"),
        ("-12.5E+1", "-125"),
        ("1.20e1", "12.0"),
        ("100000.0", "100000.0"),
        ("1e-5", "1e-05"),
        ("1e30", "1e+30"),
        ("1e999999999", "inf"),
        ("1e-99999999999999999999", "0.0"),
        ("-1e99999999999999999999", "-inf"),
    ],
)
def test_number_with_an_exponent_is_whole_if_its_digits_are(text: str, value: str) -> None:
    assert repr(read_number(text)) == value


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (2**63 - 1, "9223372036854775807"),
        (-(2**63), "-9223372036854775808"),
        (10**42, "1e+42"),
        (-42 * 10**41, "-4.2e+42"),
        (2**63, "9223372036854775808"),
        (10**42 + 1, str(10**42 + 1)),
        (10**400, str(10**400)),
    ],
)
def test_large_whole_number_is_a_float_if_no_digit_is_lost(number: int, value: str) -> None:
    assert repr(fit_whole_number(number)) == value
