"""End the processes that a test run has started, even if the run is killed.

``python -m tests.guard PID`` waits for the end of that process, and then kills all processes that
have its mark.
"""

import os
import select
import signal
import sys
import time
import uuid
from contextlib import suppress

#: Variable with the mark of the run. A process that is started with another environment must end
#: with its parent.
MARK = "TEST_RUN_MARK"
#: Seconds without a new process after which the guard ends.
_QUIET_SECONDS = 1.0


def start_guard() -> None:
    """Mark this process and all that it starts from now on, and start the guard."""
    os.environ[MARK] = uuid.uuid4().hex
    command = [sys.executable, "-m", "tests.guard", str(os.getpid())]
    silent = [
        (os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_RDWR, 0) for descriptor in range(3)
    ]
    os.posix_spawn(sys.executable, command, os.environ, file_actions=silent, setsid=True)


def list_marked_processes(mark: str) -> list[int]:
    """Return the ids of all processes with the mark, except this process."""
    variable = f"{MARK}={mark}".encode()
    pids = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
            if variable in file.read().split(b"\0") and int(name) != os.getpid():
                pids.append(int(name))
    return pids


def main() -> None:
    with suppress(ProcessLookupError):
        handle = os.pidfd_open(int(sys.argv[1]))
        select.select([handle], [], [])
    quiet_since = time.monotonic()
    while time.monotonic() < quiet_since + _QUIET_SECONDS:
        for pid in list_marked_processes(os.environ[MARK]):
            quiet_since = time.monotonic()
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)  # There is no event for a process that takes over the mark.


if __name__ == "__main__":
    main()
