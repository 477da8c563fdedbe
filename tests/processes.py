"""Find processes and their commands while any of the processes may end."""

import psutil


def read_command_line(process: psutil.Process) -> list[str]:
    """Return the command line of a process, or an empty list if it has ended."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def list_running(command: list[str]) -> list[psutil.Process]:
    """Return all processes of this machine with exactly this command line."""
    processes = psutil.process_iter(["cmdline"])
    return [process for process in processes if process.info["cmdline"] == command]


def list_running_with(word: str) -> list[int]:
    """Return the ids of all processes, also in sandboxes, that have ``word`` as an argument."""
    processes = psutil.process_iter(["cmdline"])
    return [process.pid for process in processes if word in (process.info["cmdline"] or ())]
