"""Weeks of the month in the words around an hour."""

import pytest
from masstimes.hours import find_hour_spans
from masstimes.reading.weeks import find_weeks


@pytest.mark.parametrize(
    ("text", "weeks"),
    [
        ("Pierwszy piątek miesiąca: 17:00, 18:00", ["1", "1"]),
        ("pierwsza niedziela miesiąca 12:00", ["1"]),
        ("w pierwszą i trzecią niedzielę miesiąca 12:00", ["1 3"]),
        ("w każdą ostatnią sobotę 18.00", ["last"]),
        ("I piątek miesiąca 17:00", ["1"]),
        ("I i III niedziela miesiąca 9:00", ["1 3"]),
        ("2. i 4. niedziela miesiąca: 10:00", ["2 4"]),
        ("I piątek: 17:00, 18:00", ["1", "1"]),
        ("Msza św. w I piątek 17:00", ["1"]),
        ("Spowiedź I piątek 17:00", ["1"]),
        ("I niedziela 12:00", ["1"]),
        ("I NIEDZIELA 12:00", ["1"]),
        ("I i III niedziela 9:00", ["1 3"]),
        ("1. piątek 17:00", ["1"]),
        ("\t1\\. piątki\t17:00", ["1"]),  # as mt-text writes it
        ("1-szy piątek 17:00", ["1"]),
        ("2. i 4. niedziela: 10:00", ["2 4"]),
        ("pierwszy piątek: 17:00", ["1"]),
        ("Niedziela: 8:00, 12:00, I niedziela 16:00", ["", "", "1"]),
        ("17:00 (I piątek), 18:00 (sobota)", ["1", ""]),
        ("I piątek\n17:00", ["1"]),
        ("WTOREK I PIĄTEK 17:00", [""]),
        ("Wtorek I Piątek 17:00", [""]),
        ("SOBOTY 7:00 I NIEDZIELE 8:00", ["", ""]),
        ("DNI POWSZEDNIE I SOBOTY 7:00", [""]),
        ("środa 17:00 i piątek 18:00", ["", ""]),
        ("Środa i I piątek 17:00", [""]),
        ("5.1. piątek 17:00", [""]),
        ("II niedziela zwykła 8:00", [""]),
        ("co 2. niedziela 12:30", [""]),
        ("1-sza sobota m-ca 8:00", ["1"]),
        ("pierwszy czwartek, piątek i sobota miesiąca 17:00", ["1"]),
        ("Pierwszy czwartek, pierwszy piątek i pierwsza sobota: 17:00", ["1"]),
        ("Piątek 18:00, pierwszy piątek 17:00, sobota 8:00", ["", "1", ""]),
        ("17:00 (pierwszy piątek), 18:00 (sobota)", ["1", ""]),
        ("17:00 w pierwsze piątki miesiąca, 18:00 w soboty", ["1", ""]),
        ("Pierwsze piątki\n17:00\nSoboty\n8:00", ["1", ""]),
        ("Wtorek i pierwszy piątek 17:00", [""]),
        ("oprócz pierwszego piątku 17:00", [""]),
        ("co druga niedziela 12:30", [""]),
        ("pierwsza niedziela Adwentu 7:00", [""]),
        ("wtorek i piątek, czwartki 17:00", [""]),
        ("Czwarty dzień 17:00", [""]),
    ],
)
def test_weeks_are_read_with_their_days(text: str, weeks: list[str]) -> None:
    assert [find_weeks(text, start) for start, _ in find_hour_spans(text)] == weeks
