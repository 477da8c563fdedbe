"""Options that select the system of a command."""

from pathlib import Path

import typer
from typer.main import get_command
from typer.testing import CliRunner

from sluice.cli.app import command_line
from sluice.cli.system import System, with_system
from tests.unit.cli.command_tree import list_commands

#: Commands that print bytes and have no ``--json``.
RAW = {"queue body"}


def test_command_gets_its_system_and_its_own_options(tmp_path: Path) -> None:
    app, calls = typer.Typer(), list[tuple[System, str, int]]()

    @app.command()
    @with_system
    def rank(system: System, task: str, *, rank: int = 7) -> None:
        calls.append((system, task, rank))

    runner = CliRunner()
    assert runner.invoke(app, ["mine", "--home", str(tmp_path)]).exit_code == 0
    environment = {"SLUICE_URL": "http://127.0.0.1:9", "SLUICE_HOME": str(tmp_path)}
    assert runner.invoke(app, ["yours", "--rank", "3", "--json"], env=environment).exit_code == 0
    assert calls == [
        (System(None, tmp_path), "mine", 7),
        (System("http://127.0.0.1:9", tmp_path, as_json=True), "yours", 3),
    ]


def test_home_on_the_command_line_overrides_an_address_in_the_environment(
    tmp_path: Path,
) -> None:
    app, addresses = typer.Typer(), list[str | None]()

    @app.command()
    @with_system
    def show(system: System) -> None:
        addresses.append(system.url)

    runner = CliRunner(env={"SLUICE_URL": "http://127.0.0.1:9"})
    for words in (["--home", str(tmp_path)], ["--home", str(tmp_path), "--url", "http://b"], []):
        assert runner.invoke(app, words).exit_code == 0
    assert addresses == [None, "http://b", "http://127.0.0.1:9"]


def test_each_command_for_a_system_has_the_same_options() -> None:
    options_by_command = dict(list_commands(get_command(command_line())))
    asking = {name for name, options in options_by_command.items() if "--url" in options}
    assert len(asking) > 30
    assert {name for name in asking if "--home" not in options_by_command[name]} == set()
    assert {name for name in asking if "--json" not in options_by_command[name]} == RAW
