"""Priority of the out-of-memory killer: the kernel kills tools before their slot."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

#: See proc(5).
_OWN = "/proc/self/oom_score_adj"
_FIRST = 500


@contextmanager
def children_go_first() -> Iterator[None]:
    """Give the processes that are started in this context to the out-of-memory killer first.

    This process changes its own priority for the moment, and its children inherit it. Changing the
    priority of another process takes ten times as long.
    """
    file, own = _own(os.getpid())
    if file is None or own >= _FIRST:
        yield
        return
    _write(file, _FIRST)
    try:
        yield
    finally:
        _write(file, own)


def go_first() -> None:
    """Give this process and its children to the out-of-memory killer first."""
    with suppress(OSError), open(_OWN, "r+b", buffering=0) as file:
        if int(file.read(16)) < _FIRST:
            _write(file.fileno(), _FIRST)


@cache
def _own(_pid: int) -> tuple[int | None, int]:
    """Return the open file with this process's priority, or None, and the priority.

    A forked process has another file, so the pid is a parameter of the cache.
    """
    try:
        file = os.open(_OWN, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None, 0
    return file, int(os.pread(file, 16, 0))


def _write(file: int, priority: int) -> None:
    with suppress(OSError):
        os.pwrite(file, str(priority).encode(), 0)
