"""What a system that was killed has left running: some of it ends a little later, some never."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from sluice.embedded.home import Home
from sluice.embedded.postmaster import postmaster_of, stop_postmaster
from sluice.pilot_launchers.local_process import WORK_DIR
from sluice.servicekit.processes import lives

#: Seconds that a pilot gets to end its jobs and itself.
_PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class Process:
    name: str
    pid: int

    def __str__(self) -> str:
        return f"{self.name} (process {self.pid})"


def end_remains(home: Home) -> tuple[list[Process], list[Process]]:
    """What there was, and what of it goes on all the same. Precondition: no system runs in
    ``home``."""
    pilots = list(_pilots(home.pilots))
    for pilot in pilots:
        for number in (
            signal.SIGTERM,
            signal.SIGINT,
        ):  # the first: finish what you have; the second: at once
            _send(pilot, number)
    deadline = time.monotonic() + _PATIENCE
    while any(lives(pilot.pid) for pilot in pilots) and time.monotonic() < deadline:
        time.sleep(0.05)
    server = postmaster_of(home.database)
    servers = [] if server is None else [Process("PostgreSQL", server)]
    stopped = stop_postmaster(home.database)
    return [*pilots, *servers], [
        *(pilot for pilot in pilots if lives(pilot.pid)),
        *([] if stopped else servers),
    ]


def _pilots(folder: Path) -> Iterator[Process]:
    """Found by what they were told at their start: a note of their ids would miss one that was
    started just before the end."""
    for process in psutil.process_iter(["environ"]):
        work = Path((process.info["environ"] or {}).get(WORK_DIR, "/"))
        if work.parent == folder and _leads(process.pid) and lives(process.pid):
            yield Process(f"pilot {work.name}", process.pid)


def _leads(pid: int) -> bool:
    """A pilot leads a session; what it starts may have its environment, and ends with it."""
    with suppress(OSError):
        return os.getsid(pid) == pid
    return False


def _send(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process.pid, number)
