"""Messages about a system that stops answering while a command follows a chain."""

import time
from collections.abc import Callable
from urllib.parse import urlsplit

from sluice.network.proxies import is_loopback

#: Seconds without an answer after which an outage is reported.
MESSAGE_DELAY = 3.0


class OutageMessages:
    """Reports an outage of the system once, and once its end."""

    def __init__(self, address: str, tell: Callable[[str], None]) -> None:
        self._address = address
        self._tell = tell
        self._answered_at = time.monotonic()
        self._is_reported = False

    def record_answer(self) -> None:
        """Record that the system answered, and report it after an outage."""
        self._answered_at = time.monotonic()
        if self._is_reported:
            self._is_reported = False
            self._tell(f"the system at {self._address} answers again")

    def record_failure(self) -> None:
        """Record that the system did not answer, and report it if the outage lasts."""
        if self._is_reported or time.monotonic() - self._answered_at < MESSAGE_DELAY:
            return
        self._is_reported = True
        is_here = is_loopback(urlsplit(self._address).hostname or "")
        start = ". Start it with `sluice up`" if is_here else ""
        self._tell(f"the system at {self._address} does not answer; waiting for it{start}.")
