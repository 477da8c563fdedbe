"""Run `sluice template check` in this process."""

from pathlib import Path

from typer.testing import CliRunner

from sluice.cli.commands.templates.template import app


def check(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["check", *map(str, arguments)])
    return result.exit_code, result.output
