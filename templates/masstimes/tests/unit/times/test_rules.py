"""Rules that find times of masses under headings."""

import pytest
from masstimes.rules import Order, find_order
from masstimes.text import page_text

PAGE = """Parafia św. Jana

Porządek Mszy Świętych

Niedziele i święta:
7:00, 9.30, 11:00 i 18.oo

Dni powszednie: 7:00
18:00 (w lipcu 19)

Kancelaria czynna od 16 do 17
"""


def test_sundays_and_weekdays_are_distinguished() -> None:
    assert find_order(PAGE.replace("Niedziele", "Niedziela")) == Order(
        ("07:00", "09:30", "11:00", "18:00"), ("07:00", "18:00", "19:00")
    )


@pytest.mark.parametrize("main", ["msze święte", "Msza  św.", "PORZĄDEK MSZY ŚW"])
@pytest.mark.parametrize(
    "sunday", ["niedziela", "w niedziele i dni świąteczne", "porządek świąteczny"]
)
@pytest.mark.parametrize("weekday", ["w tygodniu", "od poniedziałku do soboty", "Dzień powszedni"])
def test_headings_of_the_source_are_recognized(main: str, sunday: str, weekday: str) -> None:
    text = f"{main}\n{sunday} 8, 10\n{weekday}\n17\n"
    assert find_order(text) == Order(("08:00", "10:00"), ("17:00",))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "niedziela 8\nw tygodniu 17\n",
        "msze święte\nniedziela\nw tygodniu\n",
        "msze święte\n17\n",
        "niedziela\nkancelaria 8:00\n",
    ],
)
def test_times_without_masses_or_days_give_no_order(text: str) -> None:
    assert find_order(text) is None


def test_page_with_an_address_about_masses_needs_no_heading() -> None:
    assert find_order("niedziela 8\nw tygodniu 17\n", is_mass_page=True) == Order(
        ("08:00",), ("17:00",)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("w tygodniu 17\nniedziela 8", Order(("08:00",), ("17:00",))),
        ("niedziela 8", Order(("08:00",), ())),
        ("Niedziele:7.00;9.00.\nDni powszednie:17.00.", Order(("07:00", "09:00"), ("17:00",))),
        ("w niedziele o godz.7.00", Order(("07:00",), ())),
        ("Niedziela 7⁰⁰ - 9⁰⁰ - 11³⁰", Order(("07:00", "09:00", "11:30"), ())),
        ("w niedzielę o siódmej i o jedenastej", Order(("07:00", "11:00"), ())),
        (
            "Dni powszednie: 7.00\nŚwięta zniesione: 9.00\nniedziele 8.00",
            Order(("08:00",), ("07:00",), ("09:00",)),
        ),
        (
            "Święta nie będące dniami wolnymi: 9.00\nniedziele 8.00",
            Order(("08:00",), (), ("09:00",)),
        ),
        (
            "Święta niebędące dniami wolnymi od pracy: 9.00\nniedziele 8.00",
            Order(("08:00",), (), ("09:00",)),
        ),
        ("Święta będące dniami wolnymi od pracy: 9.00", Order(("09:00",), ())),
        ("niedziela 8:00, 7:30 spowiedź", Order(("08:00",), ())),
        ("niedziela\n7:30 Godzinki\n8:00 Msza św.\n17:30 Nieszpory", Order(("08:00",), ())),
        ("Codziennie 7:00, 18:00", Order(("07:00", "18:00"), ("07:00", "18:00"))),
        ("niedziela 9:00\ncodziennie 18:00", Order(("09:00",), ("18:00",))),
        ("Dni powszednie\ncodziennie 18:00", Order((), ("18:00",))),
        ("codziennie oprócz niedzieli 18:00", Order((), ("18:00",))),
        ("codziennie 18:00 (oprócz niedzieli)", Order((), ("18:00",))),
        ("Spowiedź: pół godziny przed Mszą św. w niedziele od 7:30", None),
        ("W niedzielę 12 maja o 11:00 Msza św. prymicyjna", None),
        ("Kancelaria: wtorek 9:00 - 10:00\nczwartek 16:00 - 17:00", None),
    ],
)
def test_each_hour_is_read_by_the_words_near_it(text: str, expected: Order | None) -> None:
    assert find_order(f"Msze święte\n{text}\n") == expected


def test_columns_of_days_hold_for_hours_below_each_other_in_a_cell() -> None:
    rows = [
        ("", "Niedziela", "Poniedziałek – Piątek", "Sobota"),
        ("Rok szkolny", "7:30<br>9:30", "6:30<br>18:00", "7:00"),
        ("Wakacje", "8:00<br>10:00", "18:00", "7:00"),
    ]
    cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    table = "".join(f"<tr>{row}</tr>" for row in cells)
    order = find_order(page_text(f"<h2>Msze święte</h2><table>{table}</table>"))
    assert order is not None
    assert [(mass.day, mass.days, mass.time, mass.season) for mass in order.masses] == [
        ("sunday", "", "07:30", "Rok szkolny"),
        ("sunday", "", "09:30", "Rok szkolny"),
        ("weekday", "mon-fri", "06:30", "Rok szkolny"),
        ("weekday", "mon-fri", "18:00", "Rok szkolny"),
        ("weekday", "sat", "07:00", "Rok szkolny"),
        ("sunday", "", "08:00", "Wakacje"),
        ("sunday", "", "10:00", "Wakacje"),
        ("weekday", "mon-fri", "18:00", "Wakacje"),
        ("weekday", "sat", "07:00", "Wakacje"),
    ]


@pytest.mark.parametrize(
    ("text", "sundays"),
    [
        ("W niedzielę Msza będzie o 19:00, a nie jak dotychczas o 20:00.", ("19:00",)),
        ("W niedzielę Msza będzie o 19:00 zamiast o 20:00.", ("19:00",)),
        ("Niedziela: Msza 19:00. Przed Mszą, o 18:30, okazja do rozmowy.", ("19:00",)),
        ("Niedziela: Msza o godz. 8-ma rano", ("08:00",)),
        ("Niedziela: Msze 7:oo, 11:3o", ("07:00", "11:30")),
        ("Msze\nniedziele 8, 10\n### Sakrament pokuty\nniedziele 7:30, 9:30", ("08:00", "10:00")),
        ("# Ogłoszenia\n2. W niedzielę Msza św. o 18.00 z nowenną.", ()),
        ("\tMsze\tBiuro\n\tniedziela 8:00\t9:30\n", ("08:00",)),
        ("Msze\nniedziela 9:30\nChrzty: w I niedzielę miesiąca na Mszy o 11:30", ("09:30",)),
        ("Msze\nniedziela 8.00, 10.00 (transmisja w Radiu od 9.55)", ("08:00", "10:00")),
        ("Msze\nniedziela 8.00 (transmisja Mszy od godz. 7.55), 10.00", ("08:00", "10:00")),
        ("Msze\nniedziela 8.00-8.45, 10.00 - 11.00", ("08:00", "10:00")),
        ("Msze\nniedziela 8.00-9.30, 11.00", ("08:00", "09:30", "11:00")),
        ("Msze\nniedziela 7.30 - 8.15 - 9.00", ("07:30", "08:15", "09:00")),
        ("Msze\nniedziela: na Mszy o 10.00 śpiewa zespół", ("10:00",)),
    ],
)
def test_hours_of_other_events_are_no_masses(text: str, sundays: tuple[str, ...]) -> None:
    order = find_order(text)
    assert (order.sundays if order else ()) == sundays


@pytest.mark.parametrize(
    "label",
    [
        "Dni powsz.:",
        "W dni powsz.",
        "W dni powszed.:",
        "dzień powsz. -",
        "D. powsz.:",
        "Pow:",
        "Dni pow.:",
        "pow.",
        "Tydzień:",
        "Cały tydzień:",
        "W dni pracy:",
        "Poniedz. - czwart.:",
        "Piąt.:",
        "Msza święta w tygodniu:",
        "Msza święta w dni powsz.:",
    ],
)
@pytest.mark.parametrize("text", ["{} 7.00, 18.00", "{}\n7.00\n18.00"])
def test_abbreviated_weekdays_are_no_sundays(text: str, label: str) -> None:
    lines = f"Msze\nNiedziela: 9.00\n{text.format(label)}\n"
    assert find_order(lines) == Order(("09:00",), ("07:00", "18:00"))


@pytest.mark.parametrize("text", ["{} 7.00, 18.00", "{}\n7.00\n18.00"])
def test_unknown_label_keeps_the_days_above_unless_it_names_days(text: str) -> None:
    def order(label: str) -> Order | None:
        return find_order(f"Msze\nNiedziela: 9.00\n{text.format(label)}\n")

    for label in ("Kaplica:", "Dla dzieci:", "Dzieci i młodzież:", "We wszystkie te dni:"):
        assert order(label) == Order(("09:00", "07:00", "18:00"), ())
    for label in ("Dni nauki:", "W dni targowe:", "Dzień chorego:"):
        assert order(label) == Order(("09:00",), ())


@pytest.mark.parametrize(
    "label",
    [
        "Święta (dni robocze):",
        "Święta w tygodniu:",
        "W święta w ciągu tygodnia",
        "Święta nakazane przypadające w dni powszednie:",
        "W święta przypadające w tygodniu",
        "Uroczystości w dni robocze:",
        "Uroczystości i święta w dni pracy:",
        "Gdy święto wypada w dzień roboczy -",
        "Święta kościelne (gdy jest to dzień pracy):",
        "W dni świąteczne będące dniami pracy:",
        "Święta, które są dniami roboczymi:",
        "Święta nieobowiązkowe:",
        "Święta nie nakazane:",
        "Święta państwowo zniesione:",
        "Święta robocze:",
    ],
)
@pytest.mark.parametrize("text", ["{} 7.00, 18.00", "{}\n7.00\n18.00"])
def test_feasts_on_working_days_are_holidays(text: str, label: str) -> None:
    lines = f"Msze\nNiedziela: 9.00\n{text.format(label)}\n"
    assert find_order(lines) == Order(("09:00",), (), ("07:00", "18:00"))


@pytest.mark.parametrize(
    ("label", "day"),
    [
        ("Niedziele i święta, dni powszednie", "sunday"),
        ("Święta będące dniami wolnymi od pracy:", "sunday"),
        ("Święta (wolne od pracy):", "sunday"),
        ("Święta nakazane:", "sunday"),
        ("Święta i dni robocze:", "weekday"),
        ("Msza święta w dni robocze:", "weekday"),
        ("Godzina święta i Msza św. w tygodniu:", "weekday"),
    ],
)
def test_other_words_beside_feasts_give_no_holidays(label: str, day: str) -> None:
    order = find_order(f"Msze\n{label} 9.00\n")
    assert order is not None
    assert [mass.day for mass in order.masses] == [day]
