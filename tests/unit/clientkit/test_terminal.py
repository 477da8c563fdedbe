"""Control characters in foreign text do not reach the terminal."""

import io

import pytest
from rich.table import Table
from rich.text import Text

from sluice.clientkit.terminal import byte_writer, console
from sluice.text.visible_text import visible

HOSTILE = "\x1b[2J\x1b]0;taken\x07\x1b]52;c;eA==\x1b\\\x9b31m\u202egpj.exe\x7f\x00"


def test_control_characters_are_made_visible() -> None:
    shown = visible(f"a\tb\n{HOSTILE}")
    assert shown.startswith("a\tb\n\u241b[2J\u241b]0;taken\u2407")
    assert shown.endswith("<U+009B>31m<U+202E>gpj.exe\u2421\u2400")


@pytest.mark.parametrize("printed", [HOSTILE, Text(HOSTILE, style="bold"), "table"])
def test_control_characters_in_any_renderable_do_not_reach_a_terminal(printed: object) -> None:
    if printed == "table":
        printed = table = Table()
        table.add_column(HOSTILE)
        table.add_row(HOSTILE)
    file = io.StringIO()
    console(file=file, force_terminal=True, width=200, color_system=None).print(printed)
    assert "taken" in file.getvalue()
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\x7f", "\x00"} & set(file.getvalue())


def test_colours_of_sluice_are_kept() -> None:
    file = io.StringIO()
    console(file=file, force_terminal=True, color_system="standard").print(Text("red", style="red"))
    assert file.getvalue() == "\x1b[31mred\x1b[0m\n"


def test_files_and_pipes_get_the_text_unchanged() -> None:
    file = io.StringIO()
    console(file=file).print("\x1b[31mred", end="")
    assert file.getvalue() == "\x1b[31mred"


@pytest.mark.parametrize("terminal", [True, False])
def test_streamed_bytes_are_made_visible_only_at_a_terminal(
    terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    buffer = io.BytesIO()
    output = io.TextIOWrapper(buffer, encoding="utf-8", write_through=True)
    monkeypatch.setattr(output, "isatty", lambda: terminal)
    tell = byte_writer(output)
    for piece in (b"\x1b[2Jgr\xc3", b"\xbcn\n"):
        tell(piece)
    assert buffer.getvalue().decode() == ("\u241b[2Jgrün\n" if terminal else "\x1b[2Jgrün\n")
