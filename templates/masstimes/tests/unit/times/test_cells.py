"""Days, seasons and purposes of hours in the cells of tables."""

import pytest
from masstimes.text import page_text

from templates.masstimes.tests.unit.times.masses import list_masses, make_table

WEEK = ["sunday 08:00", "sunday 10:00", "weekday 07:00", "weekday 18:00"]


@pytest.mark.parametrize(
    "html",
    [
        make_table("<b>Niedziela</b><br>8.00<br>10.00 | <b>Dni powszednie</b><br>7.00<br>18.00"),
        make_table("Niedziela: 8.00<br>10.00 | Dni powszednie: 7.00<br>18.00"),
        make_table("Niedziela:<br>8.00, 10.00 | Dni powszednie:<br>7.00, 18.00"),
        make_table(
            "<p>Niedziela</p><p>8.00<br>10.00</p> | <h3>Dni powszednie</h3><p>7.00</p>18.00"
        ),
        make_table(
            "MSZE ŚWIĘTE<br>Niedziela: 8.00, 10.00<br>Dni powszednie: 7.00, 18.00 |"
            "KANCELARIA<br>wtorek: 16.00 - 17.00<br>czwartek: 9.00 - 10.00"
        ),
        make_table(
            "<b>MENU</b><br>Historia | Niedziela: 8.00, 10.00<br>Dni powszednie: 7.00, 18.00 |"
            "<b>Spowiedź</b><br>codziennie 17.30"
        ),
        make_table(
            "Niedziela: 8.00, 10.00<br>Dni powszednie: 7.00, 18.00<br>| Kancelaria<br>środa 16.00"
        ),
        make_table("Niedziela | 8.00, 10.00", "Dni powszednie | 7.00, 18.00 | Kancelaria<br>16.00"),
        make_table("Niedziela<br>Dni powszednie | 8.00, 10.00<br>7.00, 18.00"),
    ],
)
def test_title_of_a_cell_holds_for_the_hours_of_this_cell(html: str) -> None:
    assert list_masses(html) == WEEK


@pytest.mark.parametrize(
    "html",
    [
        make_table(
            "Msze św. | Spowiedź | Kancelaria",
            "Niedziela: 8.00, 10.00<br>Dni powszednie: 7.00, 18.00 |codziennie 17.30 | środa 16.00",
        ),
        make_table(
            "Spowiedź | Msze<br>święte",
            "niedziela 7.30<br>piątek 17.00 | niedziela 8.00, 10.00<br>dni powszednie 7.00, 18.00",
        ),
        make_table(
            "Kancelaria | Msze św.",
            "<p>wtorek 9.00</p> | <li>niedziela 8.00, 10.00</li><li>w tygodniu 7.00, 18.00",
        ),
    ],
)
def test_header_of_topics_holds_for_all_lines_of_the_cells_below(html: str) -> None:
    assert list_masses(html) == WEEK


@pytest.mark.parametrize("hours", ["<li>{}</li><li>{}</li>", "<ul><li>{}<li>{}</ul>"])
@pytest.mark.parametrize(
    "header", ["Niedziela | Dni powszednie", "Niedziela<br>i święta | Dni<br>powszednie"]
)
def test_list_in_a_cell_has_the_day_of_its_column(header: str, hours: str) -> None:
    row = f"{hours.format('8.00', '10.00')} | {hours.format('7.00', '18.00')}"
    assert list_masses(make_table(header, row)) == WEEK


@pytest.mark.parametrize("tag", ["div", "p", "h4", "blockquote"])
def test_blocks_in_a_cell_have_the_day_of_its_column(tag: str) -> None:
    first, second = (
        "".join(f"<{tag}>{hour}</{tag}>" for hour in hours)
        for hours in (("8.00", "10.00"), ("7.00", "18.00"))
    )
    assert list_masses(make_table("Niedziela | Dni powszednie", f"{first} | {second}")) == WEEK


def test_season_columns_hold_for_rows_below_a_spanning_cell() -> None:
    html = (
        "<table><tr><th>Dzień<th>Zima<th>Lato</tr>"
        "<tr><td rowspan=2>Niedziela<td>8.00<td>7.00</tr><tr><td>10.00<td>9.00</tr>"
        "<tr><td>Dni powszednie<td>17.00<td>18.00</tr></table>"
    )
    assert list_masses(html) == [
        *("sunday 08:00 {Zima}", "sunday 07:00 {Lato}"),
        *("sunday 10:00 {Zima}", "sunday 09:00 {Lato}"),
        *("weekday 17:00 {Zima}", "weekday 18:00 {Lato}"),
    ]


@pytest.mark.parametrize("span", ["2", " 2 ", "02"])
def test_cell_that_spans_rows_is_in_each_of_them(span: str) -> None:
    html = (
        f'<table><tr><td>A<td rowspan="{span}" colspan="2">B<br>B<td rowspan="{span}">C</tr>'
        "<tr><td>D</tr><tr><td>E</tr></table>"
    )
    lines = [line for line in page_text(html).split("\n") if line.strip()]
    assert lines == ["\tA\tB B\tB B\tC", "\tD\tB B\tB B\tC", "\tE"]


@pytest.mark.parametrize("span", ["", "0", "x", "-3", "99999999999", "²"])
def test_invalid_span_changes_no_cell(span: str) -> None:
    text = page_text(f'<table><tr><td rowspan="{span}" colspan="{span}">A<td>B</tr></table>C')
    assert [line for line in text.split("\n") if line.strip()] == ["\tA\tB", "C"]


def test_cell_does_not_span_rows_of_another_table() -> None:
    inner = "<table><tr><td>B</td></tr></table>"
    html = f"<table><tr><td rowspan=9>A</td><td>{inner}</td></tr></table>C{inner}"
    lines = [line.strip() for line in page_text(html).split("\n")]
    assert [line for line in lines if line] == ["A", "B", "C", "B"]


def test_large_rows_and_spans_do_not_multiply_the_text() -> None:
    wide = "<tr>" + "<td rowspan=999 colspan=9>a<br>b" * 3000 + "<tr>" * 3000
    assert len(page_text(f"<table>{wide}</table>")) < 10 * len(wide)


@pytest.mark.parametrize("mark", ["x", "X", "•", "✓", "+", "tak"])
@pytest.mark.parametrize("none", ["", "-", "—", "nie"])
def test_marks_are_the_hours_of_their_rows(mark: str, none: str) -> None:
    html = make_table(
        "Godzina | Niedziela | Dni powszednie",
        f"8.00 | {mark} | {none}",
        f"10.00 | {mark} | {none}",
        f"7.00 | {none} | {mark}",
        f"18.00 | {none} | {mark}",
    )
    assert list_masses(html) == WEEK


def test_marks_are_the_hours_of_their_columns() -> None:
    html = make_table(
        " | 7.00 | 8.00 | 10.00 | 18.00",
        "Niedziela | - | x | x | -",
        "Dni powszednie | x | - | - | x",
    )
    assert list_masses(html) == WEEK


def test_marks_below_a_header_of_single_days_are_the_hours_of_these_days() -> None:
    html = make_table(
        "Msza | pn | wt | śr | czw | pt | sob | ndz",
        "8.00 |  |  |  |  |  | x | x",
        "18.00 | x |  |  |  | x |  |",
    )
    assert list_masses(html) == [
        "weekday 08:00 sat",
        "sunday 08:00",
        "weekday 18:00 mon",
        "weekday 18:00 fri",
    ]


def test_crosses_without_hours_stay_as_they_are() -> None:
    assert page_text(make_table("Msza | ndz", "rano | x")).strip().split("\n")[-1] == "\trano\tx"


@pytest.mark.parametrize(
    "html",
    [
        "<tr><th colspan=2>Niedziela<th colspan=2>Dni powszednie"
        "<tr><td>8.00<td>10.00<td>7.00<td>18.00",
        "<tr><th>Niedziela<th>Dni powszednie</tr><tr><td>8.00, 10.00<td>7.00, 18.00</tr>"
        "<tr><td colspan=2>Zapraszamy</tr>",
        "<tr><td colspan=2>Porządek</tr><tr><td>Niedziela<td>8.00, 10.00</tr>"
        "<tr><td>Dni powszednie<td>7.00, 18.00</tr>",
    ],
)
def test_cells_that_span_columns_keep_the_columns_of_the_others(html: str) -> None:
    assert list_masses(f"<table>{html}</table>") == WEEK


def test_hour_that_spans_columns_is_in_each_of_them() -> None:
    html = (
        "<tr><th>pora<th>Niedziela<th>Dni powszednie</tr>"
        "<tr><td>rano<td>8.00<td>7.00</tr><tr><td>wieczór<td colspan=2>18.00</tr>"
    )
    assert list_masses(f"<table>{html}</table>") == [
        "sunday 08:00",
        "weekday 07:00",
        "sunday 18:00",
        "weekday 18:00",
    ]


def test_header_of_two_rows_gives_days_and_seasons() -> None:
    html = (
        "<tr><th rowspan=2>kościół<th colspan=2>Niedziela<th colspan=2>Dni powszednie</tr>"
        "<tr><th>lato<th>zima<th>lato<th>zima</tr>"
        "<tr><td>parafialny<td>8.00<td>9.00<td>18.00<td>17.00</tr>"
    )
    assert list_masses(f"<table>{html}</table>") == [
        "sunday 08:00 {lato}",
        "sunday 09:00 {zima}",
        "weekday 18:00 {lato}",
        "weekday 17:00 {zima}",
    ]


def test_later_header_replaces_an_earlier_header() -> None:
    html = make_table(
        "lato | zima",
        "niedziela 8.00 | niedziela 9.00",
        "Niedziela | Dni powszednie",
        "10.00 | 7.00",
    )
    assert list_masses(html)[2:] == ["sunday 10:00", "weekday 07:00"]
