"""Confirmation of actions that cannot be undone: a question at a terminal, ``--yes`` in scripts."""

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any

import typer

from sluice.cli.system import System
from sluice.clientkit.output import err

YesOption = Annotated[
    bool,
    typer.Option("--yes", "-y", help="Do not ask. This is needed without a terminal."),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Only show what would be done, and do nothing.")
]
#: The exit status if there is no terminal to ask for confirmation, as for a missing option.
_NOBODY_TO_ASK = 2


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The system, and the values of ``--yes`` and ``--dry-run``."""

    system: System
    yes: bool
    dry_run: bool

    def require(self, action: str) -> None:
        """Return if the action may be done.

        Otherwise the command ends: with status 0 after a dry run, with 1 if the user declines, and
        with 2 if there is no terminal.

        Args:
            action: The action of the command, its object, and the loss, as in "delete data set
                week.1: its 3 files are removed".
        """
        if self.dry_run:
            self.system.answer({"dry_run": True, "would": action}, f"would {action}")
            raise typer.Exit
        if self.yes:
            return
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            err.print(
                f"error: nothing was done: this would {action}. There is no terminal for a"
                " confirmation: repeat the command with --yes, or with --dry-run to see what it"
                " would do"
            )
            raise typer.Exit(_NOBODY_TO_ASK)
        err.print(f"This will {action}.")
        typer.confirm("Continue?", abort=True, err=True)


_OPTIONS = [
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=annotation)
    for name, annotation in (("yes", YesOption), ("dry_run", DryRunOption))
]


def with_confirmation(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--yes`` and ``--dry-run`` in place of its second parameter.

    The parameter is a ``Confirmation``. The decorator stands below ``with_system``.
    """
    [system, _, *own] = inspect.signature(command, eval_str=True).parameters.values()

    @wraps(command)
    def wrapper(system: System, *, yes: bool, dry_run: bool, **options: Any) -> None:
        command(system, Confirmation(system, yes, dry_run), **options)

    wrapper.__signature__ = inspect.Signature([system, *own, *_OPTIONS])  # type: ignore[attr-defined]
    return wrapper
