"""Check the commands, options and settings of the product that pages name."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import typer
from typer.core import TyperGroup

from scripts.docs.settings_reference import variables
from sluice.cli.app import command_line

#: Commands in code: after the prompt of a block, or between backticks.
COMMAND = re.compile(r"(?:^|`)sluice ((?:[a-z-]+ ?)+)((?:--?[a-z-]+|[A-Z_]+|\d+| )*)", re.MULTILINE)
SETTING = re.compile(r"\bSLUICE_[A-Z_]*[A-Z]\b(?!_)")


#: Environment variables that belong to no setting and no option.
OTHERS = {
    "SLUICE_DMS_URL": "the address of the DMS for a command, beside --url",
    "SLUICE_TOKEN": "the token of a command, instead of the stored one",
    "SLUICE_TOKEN_FILE": "a file with the token of a command",
    "SLUICE_WHILE_USED": "lets a system stop when its last user ends",
}


def find_unknown_commands(text: str) -> Iterator[str]:
    for match in COMMAND.finditer(text):
        yield from _check_command(match[1].split(), match[2].split())


def find_unknown_settings(text: str) -> Iterator[str]:
    for name in sorted(set(SETTING.findall(text)) - _list_variables()):
        yield f"no setting is called {name}"


def _check_command(words: list[str], rest: list[str]) -> Iterator[str]:
    command = _get_whole_command()
    command_words = list(words)
    while words and isinstance(command, TyperGroup):
        if words[0] not in command.commands:
            yield f"there is no command sluice {' '.join(command_words)}"
            return
        command = command.commands[words.pop(0)]
    options = {option for parameter in command.params for option in parameter.opts}
    yield from (
        f"sluice {' '.join(command_words)} has no option {one}"
        for one in rest
        if one.startswith("--") and one not in options
    )


@cache
def _get_whole_command() -> Any:
    return typer.main.get_command(command_line())


@cache
def _list_variables() -> set[str]:
    return variables() | OTHERS.keys() | set(_read_by(_get_whole_command()))


def _read_by(command: Any) -> Iterator[str]:
    """Yield the environment variables of a command's options, and of its subcommands' options."""
    for parameter in command.params:
        names = parameter.envvar or ()
        yield from (names,) if isinstance(names, str) else names
    for below in getattr(command, "commands", {}).values():
        yield from _read_by(below)
