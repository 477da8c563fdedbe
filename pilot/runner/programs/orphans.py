"""Orphans: processes that a tool has left and that must not outlive its job."""

import contextlib
import ctypes
import os
import signal
from functools import partial

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Make this process a subreaper.

    Descendants whose parents die become its children, so it can find and end them.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def kill_group(group: int, number: int) -> None:
    """Send a signal to a process group, if it exists."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def list_children() -> set[int]:
    """Return the pids of this process's children, including adopted ones."""
    pids: set[int] = set()
    for thread in os.listdir("/proc/self/task"):
        # The thread has ended meanwhile.
        with contextlib.suppress(OSError):
            pids.update(map(int, _read(f"/proc/self/task/{thread}/children").split()))
    return pids


def _read(path: str) -> bytes:
    """Read a file of the kernel.

    It takes a third of the system calls that a Python file object needs.

    Raises:
        OSError: The file could not be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(partial(os.read, descriptor, 1 << 16), b""))
    finally:
        os.close(descriptor)


def kill_orphans(spared_pids: frozenset[int] = frozenset()) -> None:
    """Kill and reap all children except ``spared_pids``, and then the orphans that they leave."""
    while orphans := list_children() - spared_pids:
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for pid in orphans:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def has_ended(pid: int) -> bool:
    """Return whether a process is gone, or is a zombie without other threads.

    Its children have another parent then.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return True
    # The first thread may be a zombie while other threads, which inherit its children, are still
    # ending.
    state, threads = fields[0], int(fields[17])
    return state in {b"Z", b"X"} and threads <= 1
