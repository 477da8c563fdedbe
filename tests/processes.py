"""Processes that tests look at, while any of them may end."""

import psutil


def command_of(process: psutil.Process) -> list[str]:
    """Empty where it has ended."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []
