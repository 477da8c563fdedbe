"""Layout of help texts."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from scripts.docs.command_line import command_line_page
from sluice.cli.app import command_line


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Start everything on this machine: database, services, web page and pilots."),
        (["chain"], "Follow a chain to its end."),
    ],
)
def test_lists_of_commands_have_no_line_breaks_within_sentences(
    arguments: list[str], sentence: str
) -> None:
    environment = {"TERMINAL_WIDTH": "400", "COLUMNS": "400"}
    shown = CliRunner().invoke(command_line(), [*arguments, "--help"], env=environment).output
    [line] = [line for line in shown.splitlines() if sentence in line]
    assert line.rstrip(" │").endswith((".", "`."))


def list_help_texts(command: Any, name: str = "sluice") -> Iterator[tuple[str, str]]:
    """Yield the help texts of a command, its parameters and its subcommands, with their names."""
    yield name, command.help or ""
    if isinstance(command, TyperGroup):
        for word, inner in command.commands.items():
            yield from list_help_texts(inner, f"{name} {word}")
    else:
        for parameter in command.params:
            yield f"{name} {parameter.name}", parameter.help or ""


def test_each_command_and_parameter_has_a_help_text_of_whole_sentences() -> None:
    texts = dict(list_help_texts(get_command(command_line())))
    assert "sluice chain rank rank" in texts
    assert [name for name, text in texts.items() if not text.rstrip().endswith(".")] == []


def list_contexts(command: Any, name: str = "sluice") -> Iterator[typer.Context]:
    """Yield the context of a command and of each of its subcommands."""
    context = typer.Context(command, info_name=name)
    yield context
    if isinstance(command, TyperGroup):
        for word, inner in command.commands.items():
            yield from list_contexts(inner, f"{name} {word}")


def test_arguments_are_in_capital_letters_with_one_pair_of_brackets_in_usage_lines() -> None:
    pieces = {
        f"{context.info_name} {piece}"
        for context in list_contexts(get_command(command_line()))
        for piece in context.command.collect_usage_pieces(context)
        if piece not in {"[OPTIONS]", "COMMAND [ARGS]..."}
    }
    assert "sluice run {TEMPLATE}" in pieces
    name = r"[A-Z|]+(\[@VERSION])?"
    style = re.compile(rf"[a-z -]+ (\{{{name}\}}|\[{name}\])(\.\.\.)?")
    assert [piece for piece in pieces if not style.fullmatch(piece)] == []


@pytest.mark.parametrize("arguments", [(), ("chain",), ("run",)])
def test_flags_take_no_value_in_help_texts(arguments: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(command_line(), [*arguments, "--help"]).output
    assert "--help" in shown
    assert "bool" not in shown


def test_rows_of_the_page_on_commands_have_as_many_cells_as_their_table() -> None:
    rows = [line for line in command_line_page().splitlines() if line.startswith("|")]
    assert any("CHAIN\\|TASK" in row for row in rows)
    assert [row for row in rows if len(re.findall(r"(?<!\\)\|", row)) != 4] == []
