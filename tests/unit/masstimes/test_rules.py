"""Times under headings."""

import pytest
from masstimes.rules import Order, order_in

PAGE = """Parafia św. Jana

Porządek Mszy Świętych

Niedziele i święta:
7:00, 9.30, 11:00 i 18.oo

Dni powszednie: 7:00
18:00 (w lipcu 19)

Kancelaria czynna od 16 do 17
"""


def test_sundays_and_weekdays_are_told_apart() -> None:
    assert order_in(PAGE.replace("Niedziele", "Niedziela")) == Order(
        ("07:00", "09:30", "11:00", "18:00"), ("07:00", "18:00", "19:00")
    )


@pytest.mark.parametrize("main", ["msze święte", "Msza  św.", "PORZĄDEK MSZY ŚW"])
@pytest.mark.parametrize(
    "sunday", ["niedziela", "w niedziele i dni świąteczne", "porządek świąteczny"]
)
@pytest.mark.parametrize("weekday", ["w tygodniu", "od poniedziałku do soboty", "Dzień powszedni"])
def test_headings_are_the_sources(main: str, sunday: str, weekday: str) -> None:
    text = f"{main}\n{sunday} 8, 10\n{weekday}\n17\n"
    assert order_in(text) == Order(("08:00", "10:00"), ("17:00",))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "niedziela 8\nw tygodniu 17\n",
        "msze święte\nw tygodniu 17\nniedziela 8\n",
        "msze święte\nniedziela 8\n",
        "msze święte\nniedziela\nw tygodniu 17\n",
        "msze święte\nniedziela 8\nw tygodniu\nbrak\n17\n",
    ],
)
def test_what_has_not_all_of_them_in_order_gives_nothing(text: str) -> None:
    assert order_in(text) is None


def test_the_last_main_heading_before_the_others_counts() -> None:
    text = "msze święte\nrekolekcje 12\nmsze święte\nniedziela 8\nw tygodniu 17\n"
    assert order_in(text) == Order(("08:00",), ("17:00",))
