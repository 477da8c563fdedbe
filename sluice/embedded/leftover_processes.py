"""Processes that a killed system has left running."""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from sluice.embedded.home import Home
from sluice.embedded.postmaster import find_postmaster, stop_postmaster
from sluice.pilot_launchers.local_process import WORK_DIR
from sluice.process.signals import send_signal
from sluice.servicekit.running.processes import lives

#: Seconds for a pilot to end with its jobs: usually, and if it is to end at once.
_END_TIMEOUT, _QUICK_END_TIMEOUT = 20.0, 1.0


@dataclass(frozen=True, slots=True)
class Process:
    """A process that a killed system has left."""

    name: str
    pid: int

    def __str__(self) -> str:
        return f"{self.name} (process {self.pid})"


def end_leftover_processes(
    home: Home, *, at_once: bool = False
) -> tuple[list[Process], list[Process]]:
    """End what a killed system has left running. No system may run in ``home``.

    Args:
        home: The home folder.
        at_once: Kill pilots after a second. Their jobs return when their leases end.

    Returns:
        The processes that were found, and those that still run.
    """
    pilots = list(_find_pilots(home.pilots))
    for pilot in pilots:
        # The first signal lets the pilot finish its jobs, the second makes it end at once.
        for number in (signal.SIGTERM, signal.SIGINT):
            _signal(pilot, number)
    _wait_for(pilots, _QUICK_END_TIMEOUT if at_once else _END_TIMEOUT)
    for pilot in pilots:
        if lives(pilot.pid):
            _signal(pilot, signal.SIGKILL)
    _wait_for(pilots, _QUICK_END_TIMEOUT)
    server = find_postmaster(home.database)
    servers = [] if server is None else [Process("PostgreSQL", server)]
    stopped = stop_postmaster(home.database, at_once=at_once)
    return [*pilots, *servers], [
        *(pilot for pilot in pilots if lives(pilot.pid)),
        *([] if stopped else servers),
    ]


def _wait_for(pilots: Sequence[Process], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while any(lives(pilot.pid) for pilot in pilots) and time.monotonic() < deadline:
        time.sleep(0.05)


def _find_pilots(folder: Path) -> Iterator[Process]:
    """Yield the running pilots, found by their environment.

    A file with their pids would miss a pilot that was started just before the end.
    """
    for process in psutil.process_iter(["environ"]):
        work = Path((process.info["environ"] or {}).get(WORK_DIR, "/"))
        if work.parent == folder and _leads_session(process.pid) and lives(process.pid):
            yield Process(f"pilot {work.name}", process.pid)


def _leads_session(pid: int) -> bool:
    """Return whether a process leads a session, as a pilot does.

    Its child processes may have the same environment, but they end with it.
    """
    with suppress(OSError):
        return os.getsid(pid) == pid
    return False


def _signal(pilot: Process, number: signal.Signals) -> None:
    with suppress(PermissionError):
        send_signal(pilot.pid, number)
