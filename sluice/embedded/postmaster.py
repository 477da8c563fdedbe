"""The PostgreSQL server of a folder, whoever has started it."""

import os
import signal
import time
from pathlib import Path

from sluice.servicekit.processes import lives

#: Seconds that connections and what they do get to be ended, and that all else may take after that.
_FAST, _IMMEDIATE = 30.0, 10.0
_READY = "ready"


def postmaster_of(data: Path) -> int | None:
    """Id of the server that works in the folder; None: none does. Its lock file may have outlived
    it, and its id may be another process's by now.
    """
    pid = _noted(data)[0]
    return pid if pid is not None and lives(pid) and _works_in(pid, data) else None


def is_ready(data: Path, pid: int) -> bool:
    """Does the server with this id take connections?"""
    return _noted(data) == (pid, _READY)


def stop_postmaster(data: Path, *, at_once: bool = False) -> bool:
    """Stop the server of the folder, if there is one: clients are cut off, nothing is lost.

    Args:
        data: The data folder.
        at_once: Spend two seconds on it. A server that is killed recovers at its next start.

    Returns:
        Whether no server runs there now.
    """
    fast, immediate = (1.0, 0.5) if at_once else (_FAST, _IMMEDIATE)
    for number, patience in (
        (signal.SIGINT, fast),
        (signal.SIGQUIT, immediate),
        (signal.SIGKILL, immediate),
    ):
        pid = postmaster_of(data)
        if pid is None:
            return True
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
        except PermissionError:
            return False
        deadline = time.monotonic() + patience
        while postmaster_of(data) == pid and time.monotonic() < deadline:
            time.sleep(0.02)
    return postmaster_of(data) is None


def forget_dead_postmaster(data: Path) -> None:
    """The lock files of a server that has been killed go, that of its socket too: PostgreSQL takes
    any process that has got its id since for the server, and one that nobody has waited for.
    Precondition: nobody else starts one here.
    """
    if postmaster_of(data) is None:
        for left in (data / "postmaster.pid", *data.glob(".s.PGSQL.*")):
            left.unlink(missing_ok=True)


def _noted(data: Path) -> tuple[int | None, str]:
    """Id and state, as the server wrote them."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
        return int(lines[0]), lines[7].strip() if len(lines) > 7 else ""
    except (OSError, ValueError, IndexError):
        return None, ""


def _works_in(pid: int, data: Path) -> bool:
    """The server's folder is the one it works in."""
    try:
        return os.path.samefile(f"/proc/{pid}/cwd", data)
    except OSError:
        return False
