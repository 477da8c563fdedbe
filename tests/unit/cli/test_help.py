"""Layout of help texts."""

from collections.abc import Iterator
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

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


def help_texts(command: Any, name: str = "sluice") -> Iterator[tuple[str, str]]:
    """Yield the help texts of a command, its parameters and its subcommands, with their names."""
    yield name, command.help or ""
    if isinstance(command, TyperGroup):
        for word, inner in command.commands.items():
            yield from help_texts(inner, f"{name} {word}")
    else:
        for parameter in command.params:
            yield f"{name} {parameter.name}", parameter.help or ""


def test_each_command_and_parameter_has_a_help_text_of_whole_sentences() -> None:
    texts = dict(help_texts(get_command(command_line())))
    assert "sluice chain rank rank" in texts
    assert [name for name, text in texts.items() if not text.rstrip().endswith(".")] == []
