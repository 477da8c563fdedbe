"""Reading of the purpose, days and season of each hour."""

import pytest
from masstimes.reading.days import get_months
from masstimes.reading.lines import find_readings
from masstimes.reading.words import Topic
from masstimes.rules import find_order


def describe_purposes(text: str) -> str:
    """Return the hours of a text below a heading of masses, masses as ``8:00!``."""
    return " ".join(
        f"{reading.time.lstrip('0')}{'!' if reading.topic is Topic.MASS else ''}"
        for reading in find_readings(f"Msze święte\n{text}\n")
    )


def list_seasons(text: str) -> list[tuple[str, str, str]]:
    """Return the time, season and months of each mass of a text below a heading of masses."""
    order = find_order(f"Msze święte\n{text}\n")
    assert order is not None
    return [(mass.time, mass.season, mass.months) for mass in order.masses]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Niedziela: 7:30 Godzinki, 8:00 Msza św., 17:00 Nieszpory, 18:00",
            "7:30 8:00! 17:00 18:00!",
        ),
        ("Dni powszednie: 17:30 Różaniec, 18:00 Msza św.", "17:30 18:00!"),
        ("Dni powszednie: 17:00 adoracja, 18:00 Msza", "17:00 18:00!"),
        ("Dni powszednie: godz. 17:00 spowiedź, godz. 18:00 Msza św.", "17:00 18:00!"),
        ("\tPiątek\t17:30 Droga Krzyżowa, 18:00 Msza św.", "17:30 18:00!"),
        ("\tPiątek\t17:30 Droga Krzyżowa\t18:00 Msza św.", "17:30 18:00!"),
        ("Dni powszednie: 18:00 Msza św., 18:30 Nowenna", "18:00! 18:30"),
        ("Dni powszednie: 18:00 Msza św., 18:30 Nowenna, koronka", "18:00! 18:30"),
        ("Niedziela: 7:30 Godzinki i różaniec, 8:00, 10:00", "7:30 8:00! 10:00!"),
        ("Niedziela: 7:30 Godzinki i 8:00", "7:30 8:00!"),
        ("7:30 Godzinki i różaniec, 8:00", "7:30 8:00!"),
        ("Niedziela: Msze św. 7:00, 17:30 Nieszpory, 18:00", "7:00! 17:30 18:00!"),
        ("Msze święte w dni powszednie: 17:30 Różaniec, 18:00 Msza", "17:30 18:00!"),
        ("Msza św. w środę: 18:00 (z nowenną)", "18:00!"),
        ("Msza św. w środę: 18:00 z nowenną", "18:00!"),
        ("Środa 18:00 Nowenna i Msza", "18:00!"),
        ("Środa 17:00 Nowenna i Msza, 18:30 Nowenna i różaniec", "17:00! 18:30"),
        ("Środa 7:00, 18:00 oraz nabożeństwo majowe", "7:00! 18:00!"),
        ("Niedziela: 7:30 Godzinki, Msza św. 8:00", "7:30 8:00!"),
        ("Środa: 18:00 Msza św., piątek: 17:00 Droga Krzyżowa, 18:00", "18:00! 17:00 18:00!"),
    ],
)
def test_words_after_an_hour_belong_to_it_in_a_list(text: str, expected: str) -> None:
    assert describe_purposes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dni powszednie: Różaniec 17:30, Msza św. 18:00", "17:30 18:00!"),
        ("Dni powszednie: 7:00, 18:00, Różaniec 17:30", "7:00! 18:00! 17:30"),
        ("Dni powszednie: 7:00, 18:00, Różaniec: 17:30, 18:30", "7:00! 18:00! 17:30 18:30"),
        ("Dni powszednie: 7:00 i 18:00, spowiedź 17:00, 17:30", "7:00! 18:00! 17:00 17:30"),
        ("Niedziela: 8:00, 12:00 oraz nieszpory 17:30", "8:00! 12:00! 17:30"),
        ("Niedziela 8:00, 18:00. Nieszpory 17:30", "8:00! 18:00! 17:30"),
        ("Gorzkie Żale 17:15, 18:00", "17:15 18:00"),
        ("Niedziela: 8:00 Suma, Gorzkie Żale 17:15, 18:00", "8:00! 17:15 18:00"),
        (
            "8:00, 10:00, Gorzkie Żale: 17:15, 18:00, Msza św. 19:00",
            "8:00! 10:00! 17:15 18:00 19:00!",
        ),
        ("Gorzkie Żale 17:15 w kościele, 18:00 w kaplicy", "17:15 18:00"),
        ("Gorzkie Żale 17:15, 18:00 Msza św.", "17:15 18:00!"),
    ],
)
def test_words_before_an_hour_belong_to_it_in_a_list(text: str, expected: str) -> None:
    assert describe_purposes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Niedziela: 8h, 10h30, 18 h", "8:00! 10:30! 18:00!"),
        ("Niedziela: 5:30, 7:00", "5:30! 7:00!"),
        ("Msza św. w języku niemieckim: niedziela 8 Uhr", "8:00!"),
        ("8h Msza św., 17h30 Nieszpory", "8:00! 17:30"),
        ("Adoracja trwa 8h, Msza św. 18h", "18:00!"),
        ("Niedziela: 10h dziennie", ""),
        ("Ef 5:30", ""),
    ],
)
def test_times_with_units_and_before_six_are_read(text: str, expected: str) -> None:
    assert describe_purposes(text) == expected


@pytest.mark.parametrize(
    ("season", "months"),
    [
        ("od 1 maja do 30 września", "5-9"),
        ("od 1 października do 30 kwietnia", "1-4 10-12"),
        ("od 1 stycznia do 31 marca", "1-3"),
        ("w maju i od września do listopada", "5 9-11"),
        ("od 15 czerwca do końca sierpnia", "6-8"),
        ("od 1.05 do 30.09", "5-9"),
        ("1.10–30.04", "1-4 10-12"),
        ("lipiec, sierpień", "7-8"),
        ("oprócz lipca i sierpnia", "1-6 9-12"),
        ("okres letni (V-IX)", "5-9"),
    ],
)
def test_season_gives_its_months(season: str, months: str) -> None:
    assert get_months(season) == months


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "od 1 maja do 30 września: niedziela 7:00",
            [("07:00", "od 1 maja do 30 września", "5-9")],
        ),
        (
            "Niedziela: 8:00, od 1 października do 30 kwietnia 9:00",
            [("08:00", "", ""), ("09:00", "od 1 października do 30 kwietnia", "1-4 10-12")],
        ),
        (
            "Niedziela: w maju i od września do listopada 9:00",
            [("09:00", "w maju i od września do listopada", "5 9-11")],
        ),
        ("Niedziela: 20:00 (1 maja - 30 września)", [("20:00", "1 maja - 30 września", "5-9")]),
        ("Niedziela: od 1.05 do 30.09 20:00", [("20:00", "od 1.05 do 30.09", "5-9")]),
        ("Niedziela: od 15.06 do 31.08 20:00", [("20:00", "od 15.06 do 31.08", "6-8")]),
        ("Niedziela: 20:00 (od 1.05. do 30.09.)", [("20:00", "od 1.05. do 30.09", "5-9")]),
        (
            "Niedziela: okres letni (kwiecień–wrzesień) 18:00, okres zimowy (X-III) 17:00",
            [
                ("18:00", "okres letni (kwiecień–wrzesień)", "4-9"),
                ("17:00", "okres zimowy (X-III)", "1-3 10-12"),
            ],
        ),
        ("### Okres letni (V-IX)\nNiedziela: 18:00", [("18:00", "Okres letni (V-IX)", "5-9")]),
        ("Niedziela: 18:00 (w zimie o 17:00)", [("18:00", "", ""), ("17:00", "w zimie", "")]),
        ("Niedziela: 18:00 latem, 17:00 zimą", [("18:00", "latem", ""), ("17:00", "zimą", "")]),
        (
            "\t\tZima\tLato\n\tNiedziela\t8:00, 16:00\t20:00\n\tDni powszednie\t17:00\t18:00",
            [
                ("08:00", "Zima", ""),
                ("16:00", "Zima", ""),
                ("20:00", "Lato", ""),
                ("17:00", "Zima", ""),
                ("18:00", "Lato", ""),
            ],
        ),
    ],
)
def test_masses_have_the_season_of_their_heading(
    text: str, expected: list[tuple[str, str, str]]
) -> None:
    assert list_seasons(text) == expected


@pytest.mark.parametrize("text", ["niedziela 12 maja 8:00", "niedziela 8:00 (30 września)"])
def test_mass_of_a_single_date_is_no_weekly_mass(text: str) -> None:
    assert find_order(f"Msze święte\n{text}\n") is None


@pytest.mark.parametrize(
    ("text", "season"),
    [
        ("8:00\n18:00 (w wakacje 20:00)", "w wakacje"),
        ("8:00\n18:00 (w okresie letnim 20:00)", "w okresie letnim"),
        ("8:00\n18:00 (w lipcu i sierpniu 20:00)", "w lipcu i sierpniu"),
        ("8:00\n18:00 (w lipcu i w sierpniu o godz. 20:00)", "w lipcu i w sierpniu"),
        ("8:00\n18:00 (od października do marca 20:00)", "od października do marca"),
        ("8:00\n18:00 (od 1 maja do 30 września 20:00)", "od 1 maja do 30 września"),
        ("8:00\n18:00 (zima 20:00)", "zima"),
        ("8:00\n18:00 (zimą: 20:00)", "zimą"),
        ("8:00\n18:00 (X-VI 20:00)", "X-VI"),
        ("8:00\n18:00 / zimą 20:00", "zimą"),
        ("8:00\n18:00 - w okresie zimowym 20:00", "w okresie zimowym"),
        ("8:00\n18:00 w lipcu i sierpniu: 20:00", "w lipcu i sierpniu"),
        ("8:00\n18:00 w czasie letnim o godz. 20:00", "w czasie letnim"),
        ("8:00\n18:00 z kazaniem (w wakacje 20:00)", "w wakacje"),
        ("8:00\n18:00, latem 20:00", "latem"),
        ("8:00, 18:00 (w wakacje 20:00)", "w wakacje"),
        ("8:00, 18:00 (w lipcu i sierpniu o 20:00)", "w lipcu i sierpniu"),
        ("Niedziele: 8:00, 18:00 (w okresie wakacyjnym o godz. 20:00)", "w okresie wakacyjnym"),
        ("Niedziele: 8:00, 18:00 / zimą 20:00", "zimą"),
        ("Niedziele: 8:00, 18:00 - w okresie zimowym 20:00", "w okresie zimowym"),
    ],
)
def test_season_before_an_hour_is_not_of_the_hour_before_it(text: str, season: str) -> None:
    assert [words for _, words, _ in list_seasons(f"Niedziele\n{text}")] == ["", "", season]


@pytest.mark.parametrize(
    "text",
    [
        "18:00 zimą, 19:00 latem",
        "18:00 - zimą, 19:00 - latem",
        "18:00 zimą 19:00 latem",
        "18:00 - zimą 19:00 - latem",
        "18:00 (zimą) 19:00 (latem)",
        "zimą 18:00 latem 19:00",
        "zimą: 18:00, latem: 19:00",
        "zimą - 18:00, latem - 19:00",
    ],
)
@pytest.mark.parametrize("heading", ["Niedziele\n", "Niedziele: "])
def test_each_season_is_of_one_hour(text: str, heading: str) -> None:
    assert [words for _, words, _ in list_seasons(heading + text)] == ["zimą", "latem"]


@pytest.mark.parametrize("text", ["18:00 oprócz lipca 19:00", "18:00 (oprócz lipca), 19:00"])
def test_exception_is_of_the_hour_before_it(text: str) -> None:
    assert list_seasons(f"Niedziele\n{text}") == [
        ("18:00", "oprócz lipca", "1-6 8-12"),
        ("19:00", "", ""),
    ]


def test_words_in_a_bracket_do_not_hold_behind_it() -> None:
    assert list_seasons("Niedziela: 8:00 (w wakacje 9:00), 10:00") == [
        ("08:00", "", ""),
        ("09:00", "w wakacje", "7-8"),
        ("10:00", "", ""),
    ]
    assert describe_purposes("Niedziela: 8:00 (Godzinki 7:30), 10:00") == "8:00! 7:30 10:00!"
    order = find_order("Msze\nNiedziela: 8:00, 18:00 (w sobotę o 18:30 Msza św.), 20:00")
    assert order is not None
    assert (order.sundays, order.weekdays) == (("08:00", "18:00", "20:00"), ("18:30",))
