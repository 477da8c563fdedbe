"""All commands of ``sluice``, each imported when it is needed: a command must not wait for the
others."""

import importlib
from typing import Any

import typer

#: Name → where it is. Groups have an ``app`` of their own.
COMMANDS = {
    "up": ("sluice.cli.up", "up"),
    "down": ("sluice.cli.up", "down"),
    "status": ("sluice.cli.up", "status"),
    "run": ("sluice.cli.run", "run"),
    "serve": ("sluice.cli.serve", "serve"),
    "cwl-runner": ("sluice.cli.cwl_command", "cwl_runner"),
}
GROUPS = {
    "setup": "sluice.cli.setup",
    "template": "sluice.cli.templates",
    "dataset": "sluice.cli.datasets",
    "storage": "sluice.cli.storages",
    "chain": "sluice.cli.chains",
    "task": "sluice.cli.tasks",
    "job": "sluice.cli.jobs",
    "pilot": "sluice.cli.pilots",
    "queue": "sluice.cli.queues",
    "attention": "sluice.cli.attention",
    "bench": "sluice.cli.benchmarks",
}
#: The options of another program are passed on to it.
_SETTINGS: dict[str, dict[str, Any]] = {
    "cwl-runner": {"allow_extra_args": True, "ignore_unknown_options": True}
}


def command_line(only: str | None = None) -> typer.Typer:
    """The application; with ``only`` one of its commands, where there is one of that name."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        help="Workflow management for data that never stops arriving.",
    )
    app.callback()(_nothing)
    alone = only in COMMANDS or only in GROUPS
    for name, (module, function) in COMMANDS.items():
        if not alone or name == only:
            app.command(name, context_settings=_SETTINGS.get(name))(
                getattr(importlib.import_module(module), function)
            )
    for name, module in GROUPS.items():
        if not alone or name == only:
            app.add_typer(importlib.import_module(module).app, name=name)
    return app


def _nothing() -> None:
    """Workflow management for data that never stops arriving."""  # with it, one command alone keeps its name, too
