"""List all subcommands with their options."""

from collections.abc import Iterator
from typing import Any

from typer.core import TyperGroup


def list_commands(command: Any, name: str = "") -> Iterator[tuple[str, set[str]]]:
    if isinstance(command, TyperGroup):
        for word, inner in command.commands.items():
            yield from list_commands(inner, f"{name} {word}".strip())
    else:
        yield name, {option for parameter in command.params for option in parameter.opts}
