"""Of what the kernel kills for want of memory, a tool goes before its slot."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

#: See proc(5).
_OWN = "/proc/self/oom_score_adj"
_FIRST = 500


@contextmanager
def children_go_first() -> Iterator[None]:
    """What this process starts in here. It changes its own priority for the moment, which they
    inherit: that takes a tenth of the time that it takes to change that of another process."""
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
    """This process, and what it starts."""
    with suppress(OSError), open(_OWN, "r+b", buffering=0) as file:
        if int(file.read(16)) < _FIRST:
            _write(file.fileno(), _FIRST)


@cache
def _own(_pid: int) -> tuple[int | None, int]:
    """This process's file, open (None: it cannot be), and what it says. A process that is forked
    later has another file: hence ``_pid``."""
    try:
        file = os.open(_OWN, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None, 0
    return file, int(os.pread(file, 16, 0))


def _write(file: int, priority: int) -> None:
    with suppress(OSError):
        os.pwrite(file, str(priority).encode(), 0)
