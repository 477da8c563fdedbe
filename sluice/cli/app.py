"""All commands of ``sluice``.

A command imports no other commands, so it starts without waiting for them.
"""

import importlib
import inspect
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from sluice.contracts.common.wording import did_you_mean, names_value, validation_sentence
from sluice.text.visible_text import quoted

#: The module and the function of each command. A group is the ``app`` of its module.
COMMANDS = {
    "up": ("sluice.cli.commands.system.up", "up"),
    "down": ("sluice.cli.commands.system.up", "down"),
    "status": ("sluice.cli.commands.system.up", "status"),
    "login": ("sluice.cli.commands.access.login", "login"),
    "logout": ("sluice.cli.commands.access.login", "logout"),
    "whoami": ("sluice.cli.commands.access.login", "whoami"),
    "doctor": ("sluice.cli.commands.system.doctor", "doctor"),
    "logs": ("sluice.cli.commands.jobs.logs", "logs"),
    "run": ("sluice.cli.commands.chains.run", "run"),
    "simulate": ("sluice.cli.commands.jobs.simulate", "simulate"),
    "stats": ("sluice.cli.commands.chains.stats", "stats"),
    "serve": ("sluice.cli.commands.system.serve", "serve"),
    "cwl-runner": ("sluice.cli.commands.chains.cwl_runner", "cwl_runner"),
}
GROUPS = {
    "setup": "sluice.cli.commands.system.setup",
    "template": "sluice.cli.commands.templates.template",
    "dataset": "sluice.cli.commands.data.dataset",
    "period": "sluice.cli.commands.data.period",
    "detector-run": "sluice.cli.commands.data.detector_run",
    "storage": "sluice.cli.commands.data.storage",
    "asset": "sluice.cli.commands.data.asset",
    "tool": "sluice.cli.commands.templates.tool",
    "pipeline": "sluice.cli.commands.templates.pipeline",
    "user": "sluice.cli.commands.access.user",
    "group": "sluice.cli.commands.access.group",
    "token": "sluice.cli.commands.access.token",
    "secret": "sluice.cli.commands.access.secret",
    "chain": "sluice.cli.commands.chains.chain",
    "task": "sluice.cli.commands.jobs.task",
    "job": "sluice.cli.commands.jobs.job",
    "pilot": "sluice.cli.commands.pilots.pilot",
    "site": "sluice.cli.commands.pilots.site",
    "step": "sluice.cli.commands.jobs.step",
    "ask": "sluice.cli.commands.human_tasks.ask",
    "limit": "sluice.cli.commands.jobs.limit",
    "queue": "sluice.cli.commands.system.queue",
    "attention": "sluice.cli.commands.chains.attention",
    "audit": "sluice.cli.commands.access.audit",
}
#: Not in the wheel: in a clone, the folder of benchmarks is beside the package.
if (Path(__file__).parents[2] / "bench" / "commands.py").exists():
    GROUPS["bench"] = "bench.commands"
#: The settings of commands that pass unknown options on to another program.
_SETTINGS: dict[str, dict[str, Any]] = {
    "cwl-runner": {"allow_extra_args": True, "ignore_unknown_options": True}
}


def _style_parameters(parameters: list[Any]) -> list[Any]:
    """Let flags show no value, and arguments their names in capital letters."""
    for parameter in parameters:
        if isinstance(parameter, TyperOption) and parameter.is_flag:
            parameter.metavar = ""
        elif isinstance(parameter, TyperArgument) and parameter.metavar is None:
            parameter.metavar = parameter.name.upper()
    return parameters


class Command(TyperCommand):
    """A command that shows its parameters in the style of all commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options and arguments."""
        return _style_parameters(super().get_params(ctx))


class Commands(TyperGroup):
    """A group of commands. It reports wrong option values without pydantic's wording."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options."""
        return _style_parameters(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the arguments name."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            if isinstance(error.__cause__, ValidationError):
                error.message = _describe_invalid_value(error.__cause__, error.param)
            raise


def _describe_invalid_value(error: ValidationError, parameter: Any) -> str:
    fault = error.errors(include_url=False)[0]
    has_value = names_value(fault) or fault["type"] == "value_error"
    message = validation_sentence(fault).replace("Input should", "it should", 1)
    choices = (
        [str(choice) for choice in parameter.type_descriptor.choices or ()] if parameter else []
    )
    if suggestion := did_you_mean(str(fault["input"]), choices):
        return f"{message.removesuffix('.')}{suggestion}."
    return message + ("" if has_value else f", not {quoted(fault['input'])}")


def command_line(only_command: str | None = None) -> typer.Typer:
    """Return the application with all commands, or with a single one.

    Args:
        only_command: The name of the single command. If no command has this name, all are included.
    """
    app = typer.Typer(
        cls=Commands,
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        help="Workflow management for data that never stops arriving.",
    )
    app.callback()(_options)
    is_known = only_command in COMMANDS or only_command in GROUPS
    for name, (module, function) in COMMANDS.items():
        if not is_known or name == only_command:
            app.command(name, context_settings=_SETTINGS.get(name))(
                getattr(importlib.import_module(module), function)
            )
    for name, module in GROUPS.items():
        if not is_known or name == only_command:
            app.add_typer(importlib.import_module(module).app, name=name)
    _unify_help(app)
    return app


def _unify_help(app: typer.Typer) -> None:
    """Show parameters in one style, and join the lines of the first paragraph of each help text.

    Lists of commands can then wrap the paragraph, because rich keeps line breaks.
    """
    for command in app.registered_commands:
        command.cls = Command
        text = inspect.cleandoc(command.help or inspect.getdoc(command.callback) or "")
        command.short_help = " ".join(text.partition("\n\n")[0].split())
    for group in app.registered_groups:
        group.cls = Commands
        if group.typer_instance:
            _unify_help(group.typer_instance)


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"sluice {version('sluice')}")
        raise typer.Exit


def _options(
    *,
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    # Without a callback, Typer would drop the name of a single command.
    """Accept the options that belong to no command."""
