"""Signals to other processes, which may have ended meanwhile."""

import os
import signal
from asyncio.subprocess import Process
from contextlib import suppress


def send_signal(process: Process | int, number: signal.Signals) -> None:
    """Send a signal to a child or to the process with an id, unless it has ended."""
    with suppress(ProcessLookupError):
        if isinstance(process, int):
            os.kill(process, number)
        else:
            process.send_signal(number)
