"""Programs from pages to times, each alone and as a pipeline."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from masstimes import commands
from masstimes.text import page_text

HTML = """<html><head><title>Parafia</title><script>var x = "7:00";</script></head><body>
<h2>Porządek <b>Mszy</b> Świętych</h2>
<ul><li><i>Niedziela</i> i święta: 7:00, 9.30</li><li>11:00</li></ul>
<table><tr><td>w tygodniu</td><td>18:00</td></tr></table>
<ol><li><a href="k.html">Kancelaria</a><img src="a.png" alt="16:00"></li></ol></body>"""


def make_line(number: int = 0, **more: str) -> dict[str, str]:
    plain = {
        "url": f"http://p.pl/msze-{number}.html",
        "previous_url": "http://p.pl/",
        "start_url": "http://p.pl/",
        "domain": "p.pl",
        "html": HTML,
        "link_text": "Msze Święte",
    }
    return plain | more


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    """Return a function that runs a program on lines and returns the written lines."""

    def run(
        main: Callable[[Sequence[str]], int], lines: list[dict[str, Any]], *more: str
    ) -> list[dict[str, Any]]:
        source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
        source.write_text("".join(json.dumps(line) + "\n" for line in lines))
        assert main([str(source), "--out", str(out), *more]) == 0
        return [json.loads(line) for line in out.read_text().splitlines()]

    return run


def test_hours_below_each_other_in_a_cell_stay_in_their_row() -> None:
    table = (
        "<table><tr><th></th><th>Niedziela</th><th>Sobota</th></tr>"
        "<tr><td>Wakacje</td><td>7<sup>30</sup><br>9:30 dla dzieci<br/>19:00</td>"
        "<td>7:00<br>18:00 (z niedzieli)<p>Kaplica</p></td></tr></table>18:00"
    )
    lines = [line.strip() for line in page_text(table).splitlines() if line.strip()]
    assert lines == [
        "Niedziela\tSobota",
        "Wakacje\t7³⁰, 9:30 dla dzieci, 19:00\t7:00, 18:00 (z niedzieli)",
        "Kaplica",
        "18:00",
    ]


@pytest.mark.parametrize(
    "cell",
    [
        "7:00 w dni powszednie<br>9:00 w niedziele",
        "Niedziele: 7:00<br>9:00",
        "7<br>8",
        "Parafia<br>7:00",
    ],
)
def test_line_breaks_within_a_cell_are_kept(cell: str) -> None:
    text = page_text(f"<table><tr><td>{cell}</td></tr></table>")
    assert [line.strip() for line in text.splitlines() if line.strip()] == cell.split("<br>")


def test_page_text_is_the_visible_text() -> None:
    lines = [line.strip() for line in page_text(HTML).splitlines() if line.strip()]
    assert lines == [
        "## Porządek Mszy Świętych",
        "Niedziela i święta: 7:00, 9.30",
        "11:00",
        "w tygodniu\t18:00",
        "Kancelaria",
    ]


@pytest.mark.parametrize(
    "html", ["", "msze", "<", "<b", "</p></p>", "&#xd800; &bogus; &#0;", "<td>"]
)
def test_invalid_html_becomes_text(html: str) -> None:
    assert isinstance(page_text(html), str)


def test_alternative_text_of_a_picture_with_masses_is_read() -> None:
    html = '<p><img alt="Msze: niedziela 8.00, 10.00"><img alt="2014, fot. X"><img alt="16:00"></p>'
    assert page_text(html).split("\n")[0].strip() == "Msze: niedziela 8.00, 10.00"
    assert "16:00" not in page_text(html)
    assert "fot" not in page_text(html)


def test_hours_have_the_topic_of_their_place_on_the_page(
    run: Callable[..., list[dict[str, Any]]],
) -> None:
    far = "<p>Zapraszamy wszystkich parafian i gości.</p>" * 3
    html = f"<h2>Kancelaria</h2><p>{far}wtorek 9:00</p><h2>Msze</h2><p>niedziela 11:00</p>"
    texts = run(
        commands.text_main, [make_line(html=html, link_text="Kontakt", url="http://p.pl/k")]
    )
    hours = run(commands.hours_main, texts, "--around", "12")
    assert [(line["time"], line["topic"]) for line in hours] == [
        ("09:00", "office"),
        ("11:00", "mass"),
    ]


def test_pipeline_turns_pages_into_times(run: Callable[..., list[dict[str, Any]]]) -> None:
    other = make_line(1, url="http://p.pl/galeria", link_text="Galeria")
    texts = run(commands.text_main, [make_line(), other])
    assert [set(line) for line in texts] == [
        {"url", "previous_url", "start_url", "domain", "text", "link_text"}
    ] * 2
    relevant_pages = run(commands.filter_main, texts)
    assert [line["url"] for line in relevant_pages] == ["http://p.pl/msze-0.html"]
    hours = run(commands.hours_main, relevant_pages, "--around", "12")
    assert [line["time"] for line in hours] == ["07:00", "09:30", "11:00", "18:00"]
    first = hours[0]
    assert first["context"][first["start"] : first["end"]] == first["hour"] == "7:00"
    assert len({line["id"] for line in hours}) == 4
    [order] = run(commands.rules_main, relevant_pages)
    masses, text = order.pop("masses"), order.pop("text")
    assert order == {
        "domain": "p.pl",
        "url": "http://p.pl/msze-0.html",
        "sundays": ["07:00", "09:30", "11:00"],
        "weekdays": ["18:00"],
        "holidays": [],
    }
    assert text.splitlines()[0].strip() == "Niedziela i święta: 7:00, 9.30"
    assert masses[0] == {
        **{"time": "07:00", "day": "sunday", "days": "", "weeks": "", "season": ""},
        "months": "",
        "start": first["start"] + relevant_pages[0]["text"].index(first["context"]),
        "sentence": "Niedziela i święta: 7:00, 9.30",
    }


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (None, 66, ": cannot be read"),
        (b"{\n", 65, ":1:2: not JSON: expecting property name"),
        (b"\n[]\n", 65, ":2: not a JSON object"),
        (b'{"url": "x"}\n', 65, ":1: there is no text 'previous_url'"),
        (b"[" * 100_000 + b"\n", 65, ":1: not JSON: it has lists and objects too deep"),
        (b"\xff\n", 65, ":1: not JSON: byte 1 is not valid UTF-8"),
    ],
)
def test_bad_lines_are_named_and_nothing_is_written(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: bytes | None,
    code: int,
    message: str,
) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    if content is not None:
        source.write_bytes(content)
    assert commands.text_main([str(source), "--out", str(out)]) == code
    assert f"mt-text: {source}{message}" in capsys.readouterr().err
    assert [path for path in tmp_path.iterdir() if path != source] == []
