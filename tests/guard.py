"""What a test run has started ends with it, also when it is killed and nothing of it can be tidied
up.

``python -m tests.guard PID``: waits for the end of that process, then kills all that has its mark.
"""

import os
import select
import signal
import sys
import time
import uuid
from contextlib import suppress

#: Variable whose value is the run's mark; whoever is started with another environment ends with who
#: started it.
MARK = "TEST_RUN_MARK"
#: Seconds within which nothing new turns up among processes that are on their way out.
_QUIET = 1.0


def start_guard() -> None:
    """Marks this process and all that it starts from here on, and has them watched."""
    os.environ[MARK] = uuid.uuid4().hex
    command = [sys.executable, "-m", "tests.guard", str(os.getpid())]
    silent = [
        (os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_RDWR, 0) for descriptor in range(3)
    ]
    os.posix_spawn(sys.executable, command, os.environ, file_actions=silent, setsid=True)


def marked(mark: str) -> list[int]:
    """Processes with the mark, but for this one."""
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
    while time.monotonic() < quiet_since + _QUIET:
        for pid in marked(os.environ[MARK]):
            quiet_since = time.monotonic()
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


if __name__ == "__main__":
    main()
