"""A limit of processor time for work on foreign pages.

The time of some of Python's own parsers grows with the square of a page's length.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class SpentTooMuch(Exception):
    """The work has used more processor time than allowed."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Limit the processor time of a block in seconds.

    Other threads than the first cannot be interrupted and have no limit.

    Raises:
        SpentTooMuch: The limit is reached, from within the block.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _over(_: int, __: FrameType | None) -> None:
    raise SpentTooMuch
