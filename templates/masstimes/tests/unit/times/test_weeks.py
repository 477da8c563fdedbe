"""Weeks of the month in the words around an hour."""

import pytest
from masstimes.reading.lines import find_readings

from templates.masstimes.tests.unit.times.masses import list_masses, make_table


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
        ("Pierwszy czwartek: Godzina Święta 17:00, Msza św. 18:00", ["1", "1"]),
        ("W każdą drugą sobotę różaniec o 7:30, potem Msza św. o 8:00", ["2", "2"]),
    ],
)
def test_weeks_are_read_with_their_days(text: str, weeks: list[str]) -> None:
    assert [reading.weeks for reading in find_readings(text)] == weeks


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Pierwsze piątki miesiąca", "weekday {} fri W1"),
        ("I sobota", "weekday {} sat W1"),
        ("Ostatnia niedziela miesiąca", "sunday {} Wlast"),
    ],
)
@pytest.mark.parametrize(
    "html",
    [
        "<h3>{}</h3><p>15.30 - spowiedź<br>16.30 - Msza św.<br>Msza św. 18.00 - dorośli</p>",
        "<h3>{}</h3><ul><li>16.30 – Msza św. szkolna</li><li>17.30 różaniec<li>18.00</ul>",
        "<p>{}:</p><p>16.30</p><p>18.00</p><h3>Kancelaria</h3><p>17.00</p>",
        "<p>{}: Msza św. 16.30<br>Spowiedź: 17.00<br>Msza św. 18.00</p>",
        "<table><tr><td rowspan=3>{}<td>16.30</tr><tr><td>18.00</tr></table>",
        make_table("{} | 16.30", " | 18.00"),
        make_table("{} | Spowiedź | 15.30", "| Msza św. | 16.30", " | Msza św. | 18.00"),
        make_table("Msza św. | {}", "dla dzieci | 16.30", "dla dorosłych | 18.00"),
    ],
)
def test_heading_of_weeks_holds_for_all_hours_below(html: str, heading: str, expected: str) -> None:
    assert list_masses(html.replace("{}", heading)) == [
        expected.format(t) for t in ("16:30", "18:00")
    ]


def test_other_days_end_the_weeks_of_a_heading() -> None:
    html = (
        "<h3>I piątek</h3><p>16.30<br>Sobota: 8.00<br>10.00</p><h3>Niedziela</h3><p>9.00</p>"
        "<p>I niedziela miesiąca: 12.00</p><p>18.00</p>"
    )
    assert list_masses(html) == [
        *("weekday 16:30 fri W1", "weekday 08:00 sat", "weekday 10:00 fri W1"),
        *("sunday 09:00", "sunday 12:00 W1", "sunday 18:00"),
    ]


def test_weeks_of_a_column_hold_for_its_hours() -> None:
    html = make_table("Niedziela | Piątek | I piątek", "9.00 | 18.00 | 16.30", "11.00 | | 17.00")
    assert list_masses(html) == [
        *("sunday 09:00", "weekday 18:00 fri", "weekday 16:30 fri W1"),
        *("sunday 11:00", "weekday 17:00 fri W1"),
    ]
