"""Ends of periods and runs of data taking."""

from collections.abc import Awaitable, Callable

from sluice.cli.connection import Connection
from sluice.cli.moments import local_time
from sluice.cli.system import System
from sluice.contracts.data.runs import Period, Run


def set_end(
    system: System, label: str, ask: Callable[[Connection], Awaitable[Period | Run]]
) -> None:
    """Set when a period or run ended, and print it.

    Args:
        system: The system.
        label: What the message calls the period or run.
        ask: The request that sets the end.
    """
    changed = system.ask(ask)
    at = changed.ended_at
    system.answer(
        changed, f"{label} has not ended" if at is None else f"{label} ended {local_time(at)}"
    )
