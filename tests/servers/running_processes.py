"""Find processes that a test run started."""

from contextlib import suppress
from pathlib import Path

import psutil


def list_processes_below(folder: Path) -> list[str]:
    """Command lines of processes that were started by somebody who works below a folder, or work
    there."""
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
