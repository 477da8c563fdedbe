"""Find and stop the PostgreSQL server of a data folder, whichever process has started it."""

import os
import signal
import time
from pathlib import Path

from sluice.servicekit.running.processes import lives

#: Seconds for a fast stop, and for each forced one after it.
_FAST_TIMEOUT, _FORCED_TIMEOUT = 30.0, 10.0
_READY = "ready"


def find_postmaster(data: Path) -> int | None:
    """Return the pid of the server that works in the folder, or None.

    The lock file may have outlived the server, and another process may have its pid by now.
    """
    pid = _read_lock_file(data)[0]
    return pid if pid is not None and lives(pid) and _works_in(pid, data) else None


def is_ready(data: Path, pid: int) -> bool:
    """Return whether the server with this pid accepts connections."""
    return _read_lock_file(data) == (pid, _READY)


def stop_postmaster(data: Path, *, at_once: bool = False) -> bool:
    """Stop the server of the folder, if there is one. Clients are disconnected, no data is lost.

    Args:
        data: The data folder.
        at_once: Spend two seconds on it. A killed server recovers at its next start.

    Returns:
        Whether no server runs there now.
    """
    fast, immediate = (1.0, 0.5) if at_once else (_FAST_TIMEOUT, _FORCED_TIMEOUT)
    for number, timeout in (
        (signal.SIGINT, fast),
        (signal.SIGQUIT, immediate),
        (signal.SIGKILL, immediate),
    ):
        pid = find_postmaster(data)
        if pid is None:
            return True
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
        except PermissionError:
            return False
        deadline = time.monotonic() + timeout
        while find_postmaster(data) == pid and time.monotonic() < deadline:
            time.sleep(0.02)
    return find_postmaster(data) is None


def forget_dead_postmaster(data: Path) -> None:
    """Delete the lock files of a killed server, including the one of its socket.

    PostgreSQL would take any process that now has the pid for the server, even a zombie. No other
    process may start a server here.
    """
    if find_postmaster(data) is None:
        for path in (data / "postmaster.pid", *data.glob(".s.PGSQL.*")):
            path.unlink(missing_ok=True)


def _read_lock_file(data: Path) -> tuple[int | None, str]:
    """Return pid and state as the server wrote them."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
        return int(lines[0]), lines[7].strip() if len(lines) > 7 else ""
    except (OSError, ValueError, IndexError):
        return None, ""


def _works_in(pid: int, data: Path) -> bool:
    """Return whether the working folder of a process is the data folder."""
    try:
        return os.path.samefile(f"/proc/{pid}/cwd", data)
    except OSError:
        return False
