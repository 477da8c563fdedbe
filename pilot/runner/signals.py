"""Signals to the processes of the slots, and to what they run."""

import signal


def leave_ending_to_the_pilot() -> None:
    """SIGTERM and SIGINT do nothing to this process: the pilot decides what becomes of running
    jobs.

    A handler that does nothing, because programs inherit what is ignored, and a tool has to end
    when it is told.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: None)
