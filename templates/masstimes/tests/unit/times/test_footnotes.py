"""Footnotes give seasons and weeks to the hours that refer to them."""

import pytest

from templates.masstimes.tests.unit.times.masses import list_masses


@pytest.mark.parametrize(
    ("reference", "beginning"),
    [
        ("*", "* "),
        (" *", "*"),
        ("**", "** – "),
        ("(*)", "(*) "),
        ("*", "*) "),
        ("<sup>1</sup>", "<sup>1</sup> "),
        ("<sup>2)</sup>", "2) "),
    ],
)
def test_season_of_a_footnote_holds_for_its_hours_alone(reference: str, beginning: str) -> None:
    html = (
        f"<p>Niedziela: 8.00, 10.00{reference}, 12.00</p><p>{beginning}oprócz wakacji</p>"
        f"<p>Dni powszednie: 7.00, 18.00{reference}</p>"
    )
    assert list_masses(html) == [
        "sunday 08:00",
        "sunday 10:00 {oprócz wakacji}",
        "sunday 12:00",
        "weekday 07:00",
        "weekday 18:00 {oprócz wakacji}",
    ]


def test_each_footnote_holds_for_its_own_sign() -> None:
    html = (
        "<p>Niedziela: 8.00*, 10.00**, 12.00***</p><p>* w lipcu i sierpniu</p>"
        "<p>** w roku szkolnym</p>"
    )
    assert list_masses(html) == [
        "sunday 08:00 {w lipcu i sierpniu}",
        "sunday 10:00 {w roku szkolnym}",
        "sunday 12:00",
    ]


def test_footnote_gives_weeks_of_the_month() -> None:
    html = "<p>Niedziela: 8.00, 10.00*</p><p>* w pierwszą niedzielę miesiąca</p>"
    assert list_masses(html) == ["sunday 08:00", "sunday 10:00 W1"]


def test_footnote_of_another_purpose_makes_no_mass() -> None:
    html = "<p>Niedziela: 8.00, 17.00*</p><p>* nieszpory</p>"
    assert list_masses(html) == ["sunday 08:00"]


def test_line_with_a_star_and_without_reference_is_no_footnote() -> None:
    html = "<p>* Wakacje</p><p>Niedziela: 8.00</p>"
    assert list_masses(html) == ["sunday 08:00 {Wakacje}"]


def test_raised_minutes_are_no_footnotes() -> None:
    html = "<p>Niedziela: 8<sup>00</sup>, 10<sup>30</sup></p><p>1) wakacje</p>"
    assert list_masses(html) == ["sunday 08:00", "sunday 10:30"]
