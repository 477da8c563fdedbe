"""A bound for what is done with foreign pages: some make Python's own parsers take time that grows
with the square of their length.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class SpentTooMuch(Exception):
    """Of a core's time."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Seconds of a core. Raises ``SpentTooMuch`` from within; not in other threads than the first,
    which cannot be interrupted.
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
