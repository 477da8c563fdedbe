"""Processes that tests look at, while any of them may end."""

import psutil


def command_of(process: psutil.Process) -> list[str]:
    """Empty where it has ended."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def running(command: list[str]) -> list[psutil.Process]:
    """All that were started by exactly that command line, wherever they run."""
    processes = psutil.process_iter(["cmdline"])
    return [process for process in processes if process.info["cmdline"] == command]


def running_with(word: str) -> list[int]:
    """Pids of all that have ``word`` among their arguments, also of those in a sandbox."""
    processes = psutil.process_iter(["cmdline"])
    return [process.pid for process in processes if word in (process.info["cmdline"] or ())]
