"""A limit of processor time for work on foreign pages.

The time of some of Python's own parsers grows with the square of a page's length.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class CpuTimeExceeded(Exception):
    """The work has used more processor time than allowed."""


@contextmanager
def limit_cpu_time(seconds: float) -> Iterator[None]:
    """Limit the processor time of a block in seconds.

    Other threads than the first cannot be interrupted and have no limit.

    Raises:
        CpuTimeExceeded: The limit is reached, from within the block.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous_handler = signal.signal(signal.SIGVTALRM, _raise_exceeded)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous_handler)


def _raise_exceeded(_: int, __: FrameType | None) -> None:
    raise CpuTimeExceeded
