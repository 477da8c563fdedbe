"""Ends of periods and runs of data taking."""

from collections.abc import Awaitable, Callable

from sluice.cli.system import System
from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import local_time
from sluice.contracts.data.runs import Period, Run


def set_end(
    system: System, label: str, send_request: Callable[[Connection], Awaitable[Period | Run]]
) -> None:
    """Set when a period or run ended, and print it.

    Args:
        system: The system.
        label: The name of the period or run in the message.
        send_request: The request that sets the end.
    """
    period_or_run = system.ask(send_request)
    at = period_or_run.ended_at
    system.answer(
        period_or_run, f"{label} has not ended" if at is None else f"{label} ended {local_time(at)}"
    )
