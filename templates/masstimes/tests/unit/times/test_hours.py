"""Recognition of times in text, and their contexts."""

import pytest
from masstimes.hours import clock, find_candidates


def list_hours(text: str) -> list[str]:
    return [each.hour for each in find_candidates(text)]


HOURS_WITH_UNITS = ["8 h 30", "9 h", "15 h", "18 Uhr", "19Uhr", "20 Uhr 15"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7:00, 9:00", ["7:00", "9:00"]),
        ("7.00,9.30;", ["7.00", "9.30"]),
        ("o godz. 18, 19;", ["18", "19"]),
        ("(7:00, 18:00)", ["7:00", "18:00"]),
        ("(7:00)", []),
        ("(7 )", ["7"]),
        ("( 7)", ["7"]),
        ("niedziela 6.oo, 07:30, 22:59", ["6.oo", "07:30", "22:59"]),
        ("23:00, 24, 5, 25.12, 1 maja, 7:60", []),
        ("5:30, 05:59, 5.30, 5³⁰ i 5h15", ["5:30", "05:59", "5.30", "5³⁰", "5h15"]),
        ("4:59, 5.12, 5.06.2023, 5,30, 15:5:30, 5-30, 5 30, o 5", []),
        ("8h, 12h30, 9H i 18 h", ["8h", "12h30", "9H", "18 h"]),
        ("8 h 30, 9 h 15 h, 18 Uhr, 19Uhr, 20 Uhr 15", HOURS_WITH_UNITS),
        ("24h, 8h/dzień, 8ha, 12h30min, 5h, 118h, 8h305, 500 600 700 h", []),
        ("17:00", ["17:00"]),
        ("117:00 17:001 a7 7a 7-8 7/8", []),
        ("9.30. 9.30", ["9.30", "9.30"]),
        ("7.00;9.00;11.00", ["7.00", "9.00", "11.00"]),
        ("godz.7.00 godz.18", ["7.00", "18"]),
        ("7⁰⁰, 9³⁰ i 18oo", ["7⁰⁰", "9³⁰", "18oo"]),
        ("8-00, 9–00, 10‒00, 11–30", ["8-00", "9–00", "10‒00", "11–30"]),
        ("8–15, 16–17", []),
        ("7,30 oraz 18 00", ["7,30", "18 00"]),
        ("o 18-tej i o ósmej", ["18", "ósmej"]),
        ("o godz. 17. Potem", ["17"]),
        ("12.06.2018 7.30.15", []),
        ("18\n19", ["18", "19"]),
        ("", []),
    ],
)
def test_times_in_a_text_are_found(text: str, expected: list[str]) -> None:
    assert list_hours(text) == expected


def test_context_contains_the_time_at_its_position() -> None:
    text = f"{'x' * 300} 7:00, {'y' * 300}"
    [candidate] = find_candidates(text, around=10)
    assert candidate.context == f"{'x' * 9} 7:00, {'y' * 8}"
    assert candidate.context[candidate.start : candidate.end] == "7:00"
    [first] = find_candidates("7:00 rano", around=4)
    assert (first.context, first.start, first.end) == ("7:00 ran", 0, 4)


@pytest.mark.parametrize(
    ("hour", "expected"),
    [
        ("7", "07:00"),
        ("7.oo", "07:00"),
        ("07:05", "07:05"),
        ("22.30", "22:30"),
        ("9.OO", "09:00"),
        ("7⁰⁰", "07:00"),
        ("18 30", "18:30"),
        ("9oo", "09:00"),
        ("7,15", "07:15"),
        ("ósmej", "08:00"),
        ("9–00", "09:00"),
        ("8‒30", "08:30"),
        ("8h", "08:00"),
        ("12h30", "12:30"),
        ("12 h 30", "12:30"),
        ("8 Uhr", "08:00"),
        ("5:30", "05:30"),
        ("05.45", "05:45"),
        ("5⁰⁰", "05:00"),
    ],
)
def test_times_are_normalized(hour: str, expected: str) -> None:
    assert clock(hour) == expected


@pytest.mark.parametrize(
    "hour", ["5", "4:30", "5.12", "23:00", "7:61", "", "rano", "piątej", "700"]
)
def test_invalid_time_is_refused(hour: str) -> None:
    with pytest.raises(ValueError, match="is not an hour from 5:00 to 22:59"):
        clock(hour)
