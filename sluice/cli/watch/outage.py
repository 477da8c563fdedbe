"""Messages about a system that stops answering while a command follows a chain."""

import time
from collections.abc import Callable
from urllib.parse import urlsplit

from sluice.network.proxies import is_loopback

#: Seconds without an answer after which the user is told.
TOLD_AFTER = 3.0


class OutageMessages:
    """Tells once that the system does not answer, and once that it answers again."""

    def __init__(self, address: str, tell: Callable[[str], None]) -> None:
        self._address = address
        self._tell = tell
        self._answered_at = time.monotonic()
        self._told = False

    def record_answer(self) -> None:
        """Note that the system answered, and say so after an outage."""
        self._answered_at = time.monotonic()
        if self._told:
            self._told = False
            self._tell(f"the system at {self._address} answers again")

    def record_failure(self) -> None:
        """Note that the system did not answer, and say so if that lasts."""
        if self._told or time.monotonic() - self._answered_at < TOLD_AFTER:
            return
        self._told = True
        is_here = is_loopback(urlsplit(self._address).hostname or "")
        start = ". Start it with `sluice up`" if is_here else ""
        self._tell(f"the system at {self._address} does not answer; waiting for it{start}.")
