"""Confirmation to irreversible commands."""

import os
import pty
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner, Result

from sluice.cli.app import command_line
from sluice.cli.confirmation import Confirmation, with_confirmation
from sluice.cli.system import System, with_system
from tests.unit.cli.command_tree import list_commands

#: Names of commands that destroy something for good.
DESTRUCTIVE = {
    "cancel",
    "delete",
    "discard",
    "drop",
    "exclude",
    "remove",
    "revoke",
    "stop",
}


def run(*arguments: str) -> tuple[Result, list[str]]:
    app, done = typer.Typer(), list[str]()

    @app.command()
    @with_system
    @with_confirmation
    def delete(system: System, confirmation: Confirmation, name: str) -> None:
        confirmation.require(f"delete {name}: 3 files")
        done.append(name)

    return CliRunner().invoke(app, arguments), done


def test_without_a_terminal_nothing_is_done_unless_yes_is_given() -> None:
    result, done = run("week")
    assert (result.exit_code, done) == (2, [])
    assert "this would delete week: 3 files" in result.output
    assert "repeat the command with --yes" in result.output
    result, done = run("week", "--yes")
    assert (result.exit_code, done) == (0, ["week"])


@pytest.mark.parametrize("options", [["--dry-run"], ["--dry-run", "--yes"]])
def test_dry_run_prints_the_action_and_does_nothing(options: list[str]) -> None:
    result, done = run("week", *options)
    assert (result.exit_code, done) == (0, [])
    assert result.output == "would delete week: 3 files\n"
    result, done = run("week", "--json", *options)
    assert '"would": "delete week: 3 files"' in result.output
    assert not done


@contextmanager
def open_terminal(monkeypatch: pytest.MonkeyPatch, typed: str) -> Iterator[None]:
    ours, theirs = pty.openpty()
    os.write(ours, typed.encode())
    with (
        os.fdopen(theirs, "r", closefd=False) as stdin,
        os.fdopen(theirs, "w", closefd=False) as stderr,
        monkeypatch.context() as patched,
    ):
        patched.setattr("sys.stdin", stdin)
        patched.setattr("sys.stderr", stderr)
        yield
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize(("typed", "agreed"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_person_at_a_terminal_is_asked_for_confirmation(
    typed: str, agreed: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: os.PathLike[str]
) -> None:
    confirmation = Confirmation(System(None, tmp_path), yes=False, dry_run=False)  # type: ignore[arg-type]
    with open_terminal(monkeypatch, typed):
        if agreed:
            confirmation.require("delete week: 3 files")
        else:
            with pytest.raises(typer.Abort):
                confirmation.require("delete week: 3 files")


def test_each_destructive_command_needs_confirmation() -> None:
    options_by_command = dict(list_commands(get_command(command_line())))
    destructive = {name for name in options_by_command if name.split()[-1] in DESTRUCTIVE} | {
        "ask end"
    }
    assert {"dataset delete", "chain delete", "queue drop", "pilot stop"} <= destructive
    assert {
        name for name in destructive if not {"--yes", "--dry-run"} <= options_by_command[name]
    } == set()
