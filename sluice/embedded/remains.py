"""What a system that was killed has left running: some of it ends a little later, some may never."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sluice.embedded.home import Home
from sluice.embedded.postmaster import postmaster_of, stop_postmaster
from sluice.servicekit.processes import lives

#: Variable that a pilot is told its folder with, by which it is known again: its id may be another process's by now.
WORK_DIR = "SLUICE_PILOT_WORK_DIR"
_NOTE = "pid"
#: Seconds that a pilot gets to end its jobs and itself.
_PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class Process:
    name: str
    pid: int

    def __str__(self) -> str:
        return f"{self.name} (process {self.pid})"


def end_remains(home: Home) -> tuple[list[Process], list[Process]]:
    """What there was, and what of it goes on all the same. Precondition: no system runs in ``home``."""
    pilots = list(_pilots(home.pilots))
    for pilot in pilots:
        for number in (signal.SIGTERM, signal.SIGINT):  # the first: finish what you have; the second: at once
            _send(pilot, number)
    deadline = time.monotonic() + _PATIENCE
    while any(lives(pilot.pid) for pilot in pilots) and time.monotonic() < deadline:
        time.sleep(0.05)
    server = postmaster_of(home.database)
    servers = [] if server is None else [Process("PostgreSQL", server)]
    stopped = stop_postmaster(home.database)
    return [*pilots, *servers], [*(pilot for pilot in pilots if lives(pilot.pid)), *([] if stopped else servers)]


def note_pilot(work: Path, pid: int) -> None:
    """``work``: the pilot's own folder below that of the pilots."""
    work.mkdir(mode=0o700, exist_ok=True)
    (work / _NOTE).write_text(str(pid))


def _pilots(folder: Path) -> Iterator[Process]:
    for note in sorted(folder.glob(f"*/{_NOTE}")):
        with suppress(OSError, ValueError):
            pid = int(note.read_text())
            if lives(pid) and f"{WORK_DIR}={note.parent}" in Path(f"/proc/{pid}/environ").read_text().split("\0"):
                yield Process(f"pilot {note.parent.name}", pid)


def _send(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process.pid, number)
