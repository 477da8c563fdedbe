"""Layout of help texts."""

import pytest
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
