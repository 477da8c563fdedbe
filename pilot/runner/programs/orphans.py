"""Processes that outlive others: what a tool left behind must not outlive its job."""

import contextlib
import ctypes
import os
import signal
from functools import partial

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
        # One that has ended meanwhile has none.
        with contextlib.suppress(OSError):
            found.update(map(int, _read(f"/proc/self/task/{thread}/children").split()))
    return found


def _read(path: str) -> bytes:
    """A file of the kernel's, in a third of the system calls that an open file of Python's
    takes. Raises ``OSError``."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(partial(os.read, descriptor, 1 << 16), b""))
    finally:
        os.close(descriptor)


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
