"""Find processes that a test run started."""

from contextlib import suppress
from pathlib import Path

import psutil


def list_processes_below(folder: Path) -> list[str]:
    """Return the command lines of processes that work below a folder, or that such a process
    started."""
    processes = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            places = [*process.environ().values(), *process.cmdline(), process.cwd()]
            if (
                any(str(folder) in place for place in places)
                and process.status() != psutil.STATUS_ZOMBIE
            ):
                processes.append(f"{process.pid} {process.cmdline()}")
    return processes
