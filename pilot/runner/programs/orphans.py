"""Processes that outlive others: what a tool left behind must not outlive its job."""

import contextlib
import ctypes
import os
import signal

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Processes whose parent dies below this one become its children, where it can find and end
    them."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def kill_group(group: int, number: int) -> None:
    """Sends a signal to a process group; fine where there is none."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def children() -> set[int]:
    """Pids of this process's children, adopted ones included."""
    found: set[int] = set()
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError), open(f"/proc/self/task/{thread}/children", "rb") as file:
            found.update(map(int, file.read().split()))
    return found


def kill_orphans(known: frozenset[int] = frozenset()) -> None:
    """Kills and buries all children but ``known``, and in turn what they leave behind."""
    while orphans := children() - known:
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for pid in orphans:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def has_ended(pid: int) -> bool:
    """Is the process gone, or a zombie without a thread left? Its children have another parent by
    then."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return True
    # The first thread may be a zombie while others, which inherit its children, are still on their
    # way out.
    state, threads = fields[0], int(fields[17])
    return state in {b"Z", b"X"} and threads <= 1
