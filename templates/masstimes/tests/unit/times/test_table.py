"""The table of mass times, and its measures."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from masstimes.rules import make_order_line
from masstimes.table import command, measure_command
from masstimes.table.days import find_sentence, read_mass
from masstimes.table.files import read_table

from templates.masstimes.tests.unit.contexts import list_candidates, write

TEXT = """Porządek Mszy Świętych
Niedziele i święta
7:00, 9:00
Dni powszednie
7:00, 18:00
"""
Rows = list[dict[str, Any]]


def make_order(site: str = "a.pl", text: str = TEXT) -> dict[str, Any]:
    order_line = make_order_line({"domain": site, "url": f"http://{site}/msze.html", "text": text})
    assert order_line is not None
    return order_line


def make_classified(text: str, *, site: str = "a.pl", probability: float = 0.9) -> Rows:
    return [
        line | {"probability": probability, "mass": probability > 0.5}
        for line in list_candidates(text, site=site)
    ]


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Rows]:
    def make(orders: Rows, candidates: Rows, *parishes: dict[str, str]) -> Rows:
        paths = [tmp_path / f"{number}.json" for number in range(len(parishes))]
        for path, parish in zip(paths, parishes, strict=True):
            path.write_text(json.dumps(parish))
        inputs = ["--orders", str(write(tmp_path / "orders", orders))]
        inputs += ["--candidates", str(write(tmp_path / "candidates", candidates))]
        outputs = ["--csv", str(tmp_path / "t.csv"), "--parquet", str(tmp_path / "t.parquet")]
        assert command.main([*inputs, "--parishes", *map(str, paths), *outputs]) == 0
        return read_table(tmp_path / "t.parquet")

    return make


def summarize(rows: Rows) -> list[tuple[str, str, str]]:
    return [(row["day"], row["time"], row["source"]) for row in rows]


def test_rules_and_classifier_are_joined_by_site_day_and_time(make: Callable[..., Rows]) -> None:
    rows = make(
        [make_order()],
        [
            *make_classified(TEXT),
            *make_classified("Msza w sobotę 19:00", site="b.pl", probability=0.7),
        ],
        {"id": "anna", "site": "http://www.a.pl/index.html"},
    )
    assert summarize(rows) == [
        ("sunday", "07:00", "both"),
        ("sunday", "09:00", "both"),
        ("weekday", "07:00", "both"),
        ("weekday", "18:00", "both"),
        ("weekday", "19:00", "classifier"),
    ]
    assert [row["parish"] for row in rows] == ["anna"] * 4 + [""]
    assert rows[0]["sentence"] == "Niedziele i święta 7:00, 9:00"
    assert rows[4] == {
        "parish": "",
        "domain": "b.pl",
        "day": "weekday",
        "time": "19:00",
        "days": "sat",
        "weeks": "",
        "season": "",
        "months": "",
        "url": "http://b.pl/msze.html",
        "sentence": "Msza w sobotę 19:00",
        "source": "classifier",
        "probability": 0.7,
    }


def test_single_days_and_seasons_are_in_the_table(make: Callable[..., Rows]) -> None:
    text = """Msze święte
Niedziele: 8.00, 12.30 (oprócz lipca i sierpnia)
Poniedziałek - środa oraz piątek: 18⁰⁰
W soboty: 7.30
Święta zniesione: 9.00 i 17.00
"""
    rows = make([make_order(text=text)], make_classified(text))
    assert [(r["day"], r["time"], r["days"], r["season"], r["months"]) for r in rows] == [
        ("holiday", "09:00", "", "", ""),
        ("holiday", "17:00", "", "", ""),
        ("sunday", "08:00", "", "", ""),
        ("sunday", "12:30", "", "oprócz lipca i sierpnia", "1-6 9-12"),
        ("weekday", "07:30", "sat", "", ""),
        ("weekday", "18:00", "mon tue wed fri", "", ""),
    ]


def list_days_and_seasons(rows: Rows) -> list[tuple[str, str, str, str]]:
    return [(row["time"], row["days"], row["season"], row["months"]) for row in rows]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Dni powszednie 17:00 (zima) / 18:00 (lato)\nSobota 18:00",
            [("17:00", "", "zima", ""), ("18:00", "sat", "", ""), ("18:00", "", "lato", "")],
        ),
        (
            "Wtorek 18:00 (lipiec)\nŚroda 18:00 (sierpień)",
            [("18:00", "tue", "lipiec", "7"), ("18:00", "wed", "sierpień", "8")],
        ),
        (
            "Wtorek 18:00 (lato)\nŚroda 18:00 (zima)\nPoniedziałek 18:00 (wakacje)",
            [
                ("18:00", "mon", "wakacje", "7-8"),
                ("18:00", "tue", "lato", ""),
                ("18:00", "wed", "zima", ""),
            ],
        ),
        (
            "Wtorek 18:00 (lipiec i sierpień)\nŚroda 18:00 (wakacje)",
            [("18:00", "tue wed", "lipiec i sierpień", "7-8")],
        ),
        (
            "Wtorek 18:00 (latem)\nŚroda 18:00 (okres letni)\nPiątek 18:00 (poza latem)",
            [("18:00", "tue wed", "latem", ""), ("18:00", "fri", "poza latem", "")],
        ),
        ("Dni powszednie 18:00 (zima)\nSobota 18:00 (zima)", [("18:00", "", "zima", "")]),
    ],
)
@pytest.mark.parametrize("probability", [0.9, 0.1])
def test_days_are_joined_in_one_season_only(
    make: Callable[..., Rows],
    text: str,
    expected: list[tuple[str, str, str, str]],
    probability: float,
) -> None:
    text = f"Msze święte\n{text}\n"
    rows = make([make_order(text=text)], make_classified(text, probability=probability))
    assert list_days_and_seasons(rows) == expected
    assert {row["source"] for row in rows} == {"both" if probability > 0.5 else "rules"}


def test_classifier_alone_keeps_days_of_different_seasons_apart(make: Callable[..., Rows]) -> None:
    lines = make_classified("Msza wtorek 18:00 (lato)\nŚroda 18:00 (zima)\nPiątek 18:00 (zima)")
    assert list_days_and_seasons(make([], lines)) == [
        ("18:00", "tue", "lato", ""),
        ("18:00", "wed fri", "zima", ""),
    ]


def test_classifier_confirms_seasons_that_it_cannot_see(make: Callable[..., Rows]) -> None:
    text = f"Msze święte zimą\nWtorek 18:00\n{'.' * 200}\nMsze święte latem\nŚroda 18:00\n"
    far = [line | {"context": "Msza 18:00", "start": 5} for line in make_classified(text)]
    rows = make([make_order(text=text)], far)
    assert [(row["days"], row["source"]) for row in rows] == [("wed", "both"), ("tue", "both")]


def test_season_of_another_page_is_added_to_that_of_the_rules(make: Callable[..., Rows]) -> None:
    other = [
        line | {"url": "http://a.pl/news.html"}
        for line in make_classified("Msza sobota 18:00 (zima)")
    ]
    rows = make([make_order(text="Msze święte\nWtorek 18:00 (lato)\n")], other)
    assert [(row["days"], row["season"], row["source"]) for row in rows] == [
        ("tue", "lato", "rules"),
        ("sat", "zima", "classifier"),
    ]


def test_masses_of_one_week_of_the_month_have_their_own_rows(make: Callable[..., Rows]) -> None:
    text = """Msze święte
Piątek 18:00
Pierwszy piątek miesiąca: 17:00, 18:00
Niedziela 12:00 (druga i czwarta niedziela miesiąca)
"""
    for candidates in ([], make_classified(text)):
        rows = make([make_order(text=text)], candidates)
        assert [(row["time"], row["days"], row["weeks"]) for row in rows] == [
            ("12:00", "", "2 4"),
            ("17:00", "fri", "1"),
            ("18:00", "fri", ""),
            ("18:00", "fri", "1"),
        ]


def make_order_of_page(url: str) -> dict[str, Any]:
    return make_order("host.pl:8162") | {"url": f"http://host.pl:8162{url}"}


def test_parishes_of_one_host_are_distinguished_by_path(
    make: Callable[..., Rows], capsys: pytest.CaptureFixture[str]
) -> None:
    parishes = [
        {"id": id_, "site": f"http://host.pl:8162/{path}"}
        for id_, path in (("a", "~a/"), ("b", "~b/"), ("c", "~b/branch/"), ("empty", "~d/"))
    ]
    pages = ["/~a/", "/~b/msze.html", "/~b/branch/msze.html", "/other.html"]
    rows = make([make_order_of_page(path) for path in pages], [], *parishes)
    assert {(row["parish"], row["url"].removeprefix("http://host.pl:8162")) for row in rows} == {
        ("a", "/~a/"),
        ("b", "/~b/msze.html"),
        ("c", "/~b/branch/msze.html"),
        ("", "/other.html"),
    }
    assert len(rows) == 4 * 4
    assert capsys.readouterr().err == (
        "mt-table: 16 times of masses at 4 sites\nmt-table: parishes without times: 'empty'\n"
    )


def test_parishes_of_one_path_are_distinguished_by_query(make: Callable[..., Rows]) -> None:
    site = "http://host.pl:8162/parafia.php?id="
    parishes = [{"id": f"p{number}", "site": f"{site}{number}"} for number in (1, 2)]
    pages = [f"/parafia.php?{query}" for query in ("id=1", "id=2", "page=msze&id=2", "id=3")]
    rows = make([make_order_of_page(path) for path in pages], [], *parishes)
    assert {(row["parish"], row["url"].partition("?")[2]) for row in rows} == {
        ("p1", "id=1"),
        ("p2", "id=2"),
        ("", "id=3"),
    }


def test_parishes_of_one_host_are_distinguished_by_port(make: Callable[..., Rows]) -> None:
    parishes = [{"id": port, "site": f"http://host.pl:{port}/"} for port in ("8162", "80")]
    assert {row["parish"] for row in make([make_order_of_page("/")], [], *parishes)} == {"8162"}


def test_message_names_ten_parishes_without_times(
    make: Callable[..., Rows], capsys: pytest.CaptureFixture[str]
) -> None:
    make([], [], *({"id": f"p{n:02}", "site": f"http://{n}.pl/"} for n in range(12)))
    assert capsys.readouterr().err.endswith("'p08', 'p09' and 2 more\n")


def test_orders_of_the_previous_release_make_rows(make: Callable[..., Rows]) -> None:
    old = {"domain": "a.pl", "url": "http://a.pl/m", "text": "", "sundays": ["07:00"]}
    [row] = make([old | {"weekdays": []}], [])
    assert (row["day"], row["time"], row["days"], row["source"]) == ("sunday", "07:00", "", "rules")


def test_rows_of_rules_have_a_sentence_and_no_probability(make: Callable[..., Rows]) -> None:
    rows = make([make_order()], make_classified(TEXT, probability=0.1))
    assert [row["source"] for row in rows] == ["rules"] * 4
    assert {row["probability"] for row in rows} == {None}
    assert [row["sentence"] for row in rows] == [
        *["Niedziele i święta 7:00, 9:00"] * 2,
        *["Dni powszednie 7:00, 18:00"] * 2,
    ]


def test_best_evidence_is_kept(make: Callable[..., Rows]) -> None:
    texts = (("Niedziela 7:00", 0.6), ("Msza w niedzielę o 7:00", 0.8), ("Nd. 7:00", 0.7))
    lines = [line for text, sure in texts for line in make_classified(text, probability=sure)]
    [row] = make([], lines)
    assert (row["sentence"], row["probability"]) == ("Msza w niedzielę o 7:00", 0.8)


def test_unknown_day_is_replaced_by_a_known_day(make: Callable[..., Rows]) -> None:
    lines = [*make_classified("Msza 7:00"), *make_classified("Msza w niedzielę 7:00")]
    assert summarize(make([], lines)) == [("sunday", "07:00", "classifier")]
    assert summarize(make([], make_classified("Msza 7:00"))) == [("unknown", "07:00", "classifier")]


def test_equal_input_makes_equal_files(make: Callable[..., Rows], tmp_path: Path) -> None:
    lines = [*make_classified(TEXT), *make_classified("Msza w sobotę 19:00", site="b.pl")]
    make([make_order()], lines)
    first = [(tmp_path / name).read_bytes() for name in ("t.csv", "t.parquet")]
    make([make_order()], lines[::-1])
    assert [(tmp_path / name).read_bytes() for name in ("t.csv", "t.parquet")] == first
    assert make([], []) == []


def test_csv_and_parquet_have_the_same_rows(make: Callable[..., Rows], tmp_path: Path) -> None:
    rows = make([make_order()], make_classified("Msza w sobotę 19:00"))
    as_text = [
        {name: "" if value is None else str(value) for name, value in row.items()} for row in rows
    ]
    assert read_table(tmp_path / "t.csv") == as_text


@pytest.mark.parametrize(
    ("context", "day"),
    [
        ("W niedzielę: 9:00", "sunday"),
        ("Niedziela 7:00 Dni powszednie 9:00", "weekday"),
        ("Msze święte 9:00", "unknown"),
        ("święta 9:00", "sunday"),
        ("Msze św. 9:00 w tygodniu", "weekday"),
        ("Msze św. 9:00\nw tygodniu", "unknown"),
        ("Pn - Sob. 9:00", "weekday"),
        ("Środa 9:00", "weekday"),
        ("środek 9:00", "unknown"),
    ],
)
def test_day_is_recognized_by_nearby_words(context: str, day: str) -> None:
    start = context.index("9:00")
    assert read_mass(context, start).day == day


def test_sentence_contains_words_of_the_heading() -> None:
    assert find_sentence("a\n## Niedziela\n\n 7:00\n 9:00\n", 20) == "Niedziela 7:00"
    assert find_sentence("7:00", 0) == "7:00"
    assert len(find_sentence(f"msza {'x' * 400}", 0)) == 301


def test_measures_compare_sites_and_times_with_the_truth(
    make: Callable[..., Rows], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make([make_order()], [*make_classified("Msze 9:00, 20:00, 21:00")])
    truth = tmp_path / "truth.json"
    site = {"domain": "a.pl", "sundays": ["07:00", "09:00"], "weekdays": ["07:00", "20:00"]}
    truth.write_text(json.dumps({"sites": {"x": site}}))
    capsys.readouterr()
    for name in ("t.csv", "t.parquet"):
        arguments = ["--table", str(tmp_path / name), "--truth", str(truth)]
        assert measure_command.main([*arguments, "--out", str(tmp_path / "m.json")]) == 0
        measures = json.loads(capsys.readouterr().out)
        assert measures == json.loads((tmp_path / "m.json").read_text())
        assert [(of["right"], of["wrong"], of["missed"]) for of in measures.values()] == [
            (2, 1, 1),
            (2, 1, 1),
            (3, 2, 0),
        ]
        assert measures["both"]["recall"] == 1


@pytest.mark.parametrize(
    ("program", "arguments", "message"),
    [
        (command, ["--candidates", "{bare}"], "has no time, probability and mass"),
        (command, ["--orders", "{bare}"], "has no list 'sundays'"),
        (command, ["--parishes", "{bare}"], "not JSON"),
        (measure_command, ["--table", "{bare}", "--truth", "{bare}"], "has no column"),
    ],
)
def test_input_of_another_kind_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    program: Any,
    arguments: list[str],
    message: str,
) -> None:
    bare = write(tmp_path / "bare", list_candidates("Msze 7:00, 8:00", site="a.pl"))
    out = ["--csv", str(tmp_path / "c"), "--parquet", str(tmp_path / "p")]
    filled_arguments = [each.format(bare=bare) for each in arguments]
    assert program.main([*filled_arguments, *(out if program is command else ())]) == 65
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("text", ["[]", '{"id": "a"}', '{"id": "a", "site": 1}', '{"site": "a"}'])
def test_file_that_is_no_parish_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "parish.json").write_text(text)
    out = ["--csv", str(tmp_path / "c"), "--parquet", str(tmp_path / "p")]
    assert command.main(["--parishes", str(tmp_path / "parish.json"), *out]) == 65
    assert "this is not a parish" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("topic", "row_count"), [("mass", 1), (None, 1), ("office", 0), ("once", 0)]
)
def test_hour_with_another_topic_is_left_out(
    make: Callable[..., Rows], topic: str | None, row_count: int
) -> None:
    [line] = make_classified("Msza w sobotę 19:00")
    assert len(make([], [line | {"topic": topic}])) == row_count
