"""Previews of files, from their first bytes."""

import json

import pytest

from wfms.operator.web.usecases.file_preview import (
    MAX_COLUMNS,
    MAX_ROWS,
    PreviewKind,
    image_type,
    make_preview,
)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("x", b"", PreviewKind.EMPTY),
        ("x.txt", b"plain words\n", PreviewKind.TEXT),
        ("x", "Grüße\n".encode(), PreviewKind.TEXT),
        ("page.html", b"<!doctype html><script>alert(1)</script>", PreviewKind.TEXT),
        (
            "picture.svg",
            b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
            PreviewKind.TEXT,
        ),
        ("picture.html", PNG, PreviewKind.IMAGE),
        ("not-a-picture.png", b"\x89PNX", PreviewKind.BINARY),
        ("photo", b"\xff\xd8\xff\xe0", PreviewKind.IMAGE),
        ("moving", b"GIF89a;", PreviewKind.IMAGE),
        ("new", b"RIFF\x00\x00\x00\x00WEBPVP8 ", PreviewKind.IMAGE),
        ("sound", b"RIFF\x00\x00\x00\x00WAVEfmt ", PreviewKind.BINARY),
        ("x.json", b'{"a": [1, 2]}', PreviewKind.JSON),
        ("unnamed", b' [{"a": 1}] ', PreviewKind.JSON),
        ("x.json", b'{"a": ', PreviewKind.TEXT),
        ("deep.json", b"[" * 100_000, PreviewKind.TEXT),
        ("wide.json", b"[" + b",".join([b"[" * 900 + b"]" * 900] * 36) + b"]", PreviewKind.TEXT),
        ("few.json", b"[" * 300 + b"]" * 300, PreviewKind.JSON),
        ("x.csv", b"run,hits\n312,77\n", PreviewKind.TABLE),
        ("x.tsv", b"run\thits\n312\t77\n", PreviewKind.TABLE),
        ("x.csv", b"run;hits\n312;77\n", PreviewKind.TABLE),
        ("x.csv", b"one column\nonly\n", PreviewKind.TEXT),
        ("x.csv", b'a,"b\n' + b"x" * 200_000, PreviewKind.TEXT),
        ("x.bin", bytes(range(256)), PreviewKind.BINARY),
        ("latin", b"Gr\xfc\xdfe", PreviewKind.BINARY),
    ],
)
def test_kind_of_a_preview_follows_from_the_first_bytes(
    name: str, head: bytes, kind: PreviewKind
) -> None:
    assert make_preview(name, head, len(head)).kind is kind


def test_json_preview_is_indented_and_keeps_its_values() -> None:
    value = {"b": [1, {"ü": None}, {}], "a": 1e300}
    shown = make_preview("x.json", json.dumps(value).encode(), len(json.dumps(value)))
    assert shown.text == json.dumps(value, indent=2)


def test_json_preview_keeps_numbers_escapes_and_repeated_keys_as_written() -> None:
    """Only white space between the parts changes."""
    numbers = ["1.10", "0.1000000000000000055511151231257827", "1e400", "1E+2", "-0.0", "9" * 5000]
    strings = [r'"\u00e4 \"\\"', '"[{,:}] "', '""', "true", "{}", "[]"]
    values = numbers + strings
    members = [f'"a": {value}' for value in values]
    text = f'{{{",".join(members)} , "b":[ [ ], {{ }},[{",".join(values)}]]}}'
    shown = make_preview("x.json", text.encode(), len(text))
    assert shown.kind is PreviewKind.JSON
    assert shown.text.splitlines() == [
        "{",
        *(f"  {line}," for line in members),
        '  "b": [',
        "    [],",
        "    {},",
        "    [",
        *(f"      {value}," for value in values[:-1]),
        f"      {values[-1]}",
        "    ]",
        "  ]",
        "}",
    ]


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity"])
def test_invalid_json_is_shown_as_text(literal: str) -> None:
    text = f'{{"a": {literal}}}'
    shown = make_preview("x.json", text.encode(), len(text))
    assert (shown.kind, shown.text) == (PreviewKind.TEXT, text)


def test_truncated_preview_says_so_and_breaks_no_character() -> None:
    text = "ü" * 1000
    shown = make_preview("x.txt", text.encode()[:1001], 2000)
    assert (shown.kind, shown.cut, shown.text) == (PreviewKind.TEXT, True, "ü" * 500)
    assert make_preview("x.json", b'{"a": 1}', 99).kind is PreviewKind.TEXT, (
        "a part of a file may not be JSON"
    )
    cut = make_preview("x.csv", b"a,b\n1,2\n3", 5000)
    assert cut.rows == [["a", "b"], ["1", "2"]], "the incomplete last row must be left out"


def test_table_preview_is_limited() -> None:
    wide = ",".join(["x" * 1000] * 200)
    shown = make_preview("x.csv", "\n".join([wide] * 500).encode(), 5)
    assert len(shown.rows) == MAX_ROWS + 1
    assert {len(row) for row in shown.rows} == {MAX_COLUMNS}
    assert max(len(cell) for cell in shown.rows[0]) == 200
    assert shown.cut


def test_dump_shows_bytes_and_characters() -> None:
    shown = make_preview("x.root", b"root\x00\x01" + bytes(1000), 1006)
    assert shown.text.splitlines()[0].startswith("00000000  72 6f 6f 74 00 01 00")
    assert shown.text.splitlines()[0].endswith("root············")
    assert (len(shown.text.splitlines()), shown.cut) == (16, True)


def test_svg_and_pdf_are_not_shown_as_images() -> None:
    assert image_type(b"<svg xmlns='http://www.w3.org/2000/svg'/>") is None
    assert image_type(b"%PDF-1.7") is None
