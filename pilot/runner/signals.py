"""Signals for slot processes and the programs that they run."""

import signal


def disable_termination_signals() -> None:
    """Make SIGTERM and SIGINT have no effect on this process.

    The pilot decides what happens to running jobs. The handler does nothing: if the signals were
    ignored, tools would inherit this, and they have to end on them.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: None)
