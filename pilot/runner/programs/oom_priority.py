"""Priority of the out-of-memory killer: the kernel kills tools before their slot."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

#: See proc(5).
_PATH = "/proc/self/oom_score_adj"
_PRIORITY = 500


@contextmanager
def set_children_oom_priority() -> Iterator[None]:
    """Give the processes that are started in this context to the out-of-memory killer first.

    This process changes its own priority for the moment, and its children inherit it. Changing the
    priority of another process takes ten times as long.
    """
    file, priority = _open_priority(os.getpid())
    if file is None or priority >= _PRIORITY:
        yield
        return
    _write(file, _PRIORITY)
    try:
        yield
    finally:
        _write(file, priority)


def set_oom_priority() -> None:
    """Give this process and its children to the out-of-memory killer first."""
    with suppress(OSError), open(_PATH, "r+b", buffering=0) as file:
        if int(file.read(16)) < _PRIORITY:
            _write(file.fileno(), _PRIORITY)


@cache
def _open_priority(_pid: int) -> tuple[int | None, int]:
    """Return the open file with this process's priority, or None, and the priority.

    A forked process has another file, so the pid is a parameter of the cache.
    """
    try:
        file = os.open(_PATH, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None, 0
    return file, int(os.pread(file, 16, 0))


def _write(file: int, priority: int) -> None:
    with suppress(OSError):
        os.pwrite(file, str(priority).encode(), 0)
